// The side panel of the assistant: messages, tool calls, and calls that wait for approval.
import { Eye, Plus, Settings2, Square, X } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { chooseModel, chosenModel } from "../../app/state/asking.ts";
import { serverNow, useNow } from "../../app/session/clock.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { withoutIds } from "../../app/words/talk.ts";
import { clock } from "../../app/words/words.ts";
import type { Attachment } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
import { AssistantSettings } from "./AssistantSettings.tsx";
import { useName } from "../../ui/Author.tsx";
import { Composer } from "./Composer.tsx";
import { ConfirmationCard } from "./Confirmation.tsx";
import { Messages, useEnds, useMessages, useTurns, useWriting } from "./Messages.tsx";
import { Rendered } from "../outputs/Rendered.tsx";

export function Assistant({ store }: { store: NotebookStore }) {
  useTopics(store, "assistants", "status", "order");
  const [chosen, setChosen] = useState<string>();
  const [isSetting, setIsSetting] = useState(false);
  const [model, setModel] = useState(() => chosenModel());
  const { document } = store;
  const conversation = chosen ?? store.conversation ?? "";
  const { messages, isLoading } = useMessages(store, conversation);
  const turn = document.conversations.get(conversation)?.turn ?? undefined;
  const turns = useTurns(store, conversation, turn);
  const { text: live } = useWriting(store, turn);
  const ends = useEnds(store);
  const { waiting } = store;
  const hasAssistants = store.session.connection.welcome?.features.includes("assistants") ?? true;
  const transcript = useTail(`${conversation} ${messages.length} ${waiting.length}`);

  const ask = async (text: string, attachments: Attachment[]) => {
    const conversation_id = conversation || newId();
    setChosen(conversation_id);
    return store.send({
      StartTurn: { conversation_id, text, ...(model && { model }), ...(attachments.length > 0 && { attachments }) },
    });
  };
  const setAndKeepModel = (name: string) => {
    setModel(name);
    chooseModel(name);
  };

  return (
    <aside className="panel assistant-panel" aria-label="Assistant">
      <header className="row">
        <h2 className="grow">Assistant</h2>
        {document.conversations.size > 0 && (
          <select aria-label="Conversation" value={conversation} onChange={(event) => setChosen(event.target.value)}>
            {!document.conversations.has(conversation) && <option value={conversation}>New conversation</option>}
            {[...document.conversations].map(([id, each]) => (
              <option key={id} value={id}>
                {withoutIds(each.title) || "Conversation"}
                {each.is_outside ? " (external)" : ""}
              </option>
            ))}
          </select>
        )}
        <button
          className="button bare icon"
          aria-label="New conversation"
          title="New conversation"
          onClick={() => setChosen(newId())}
        >
          <Plus size={16} />
        </button>
        <button
          className="button bare icon"
          aria-label="Model and permissions"
          title="Model and permissions"
          aria-pressed={isSetting}
          onClick={() => setIsSetting(!isSetting)}
        >
          <Settings2 size={16} />
        </button>
        <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("assistant")}>
          <X size={16} />
        </button>
      </header>
      {isSetting && (
        <AssistantSettings
          store={store}
          model={model}
          setModel={setAndKeepModel}
          models={turns.flatMap((each) => each.model ?? [])}
        />
      )}
      <div ref={transcript} className="transcript" role="log" aria-label="Conversation" tabIndex={0}>
        <div className="column">
          {isLoading && <div className="shape" aria-busy="true" />}
          {messages.length === 0 && !turn && !isLoading && <Nothing hasAssistants={hasAssistants} />}
          <Messages store={store} conversation={conversation} messages={messages} ends={ends} turns={turns} turn={turn} />
          {live && (
            <div className="said assistant rendered" aria-busy>
              <Rendered text={live} />
            </div>
          )}
          {waiting.map(([id, call], index) => (
            <ConfirmationCard key={id} store={store} id={id} call={call} place={[index + 1, waiting.length]} />
          ))}
        </div>
      </div>
      {turn && <Working store={store} turn={turn} isWaiting={waiting.length > 0} />}
      {hasAssistants && store.mayConverse && <Composer store={store} ask={ask} isBusy={turn !== undefined} />}
      {hasAssistants && !store.mayConverse && (
        <p className="quiet note">Your role doesn’t include the assistant. Ask an owner for access.</p>
      )}
    </aside>
  );
}

const NEAR_PX = 120;

/**
 * Follows the end of the conversation while it grows, unless the user has scrolled up. A change of `news` always scrolls to the
 * end.
 */
function useTail(news: string): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  useEffect(() => {
    isNear.current = true;
    place.current?.scrollTo(0, place.current.scrollHeight);
  }, [news]);
  useEffect(() => {
    const box = place.current;
    if (!box?.firstElementChild) return;
    const look = () => (isNear.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX);
    const follow = new ResizeObserver(() => isNear.current && box.scrollTo(0, box.scrollHeight));
    follow.observe(box.firstElementChild);
    follow.observe(box);
    box.addEventListener("scroll", look);
    return () => {
      follow.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);
  return place;
}

function Nothing({ hasAssistants }: { hasAssistants: boolean }) {
  if (!hasAssistants)
    return (
      <div className="quiet empty">
        <p>No model provider is set up.</p>
        <p className="small">
          Start the server with a key such as <code>ANTHROPIC_API_KEY</code>, or try <code>notarium demo</code>.
        </p>
      </div>
    );
  return (
    <div className="quiet empty">
      <p>Ask about this notebook, or for changes to it.</p>
      <p className="small">Each step is shown and can be undone. Destructive steps need your approval.</p>
    </div>
  );
}

function Working({ store, turn, isWaiting }: { store: NotebookStore; turn: string; isWaiting: boolean }) {
  const known = store.document.turns.get(turn);
  const name = useName(store, known?.requested_by);
  const now = useNow(1_000, serverNow);
  const took = known ? clock(now - known.started_at) : "";
  const { review } = store;
  const state = isWaiting ? "is waiting for approval" : "is working";
  return (
    <p className="working row" role="status">
      <span className="grow">
        The assistant {state}
        {name && name !== "You" ? ` for ${name}` : ""}{" "}
        <span className="small" aria-live="off">
          {took}
        </span>
      </span>
      <button
        className="button bare icon"
        aria-pressed={review.isFollowing}
        aria-label="Follow in the notebook"
        title="Follow in the notebook"
        onClick={() => {
          review.isFollowing = !review.isFollowing;
          store.touch("assistants");
        }}
      >
        <Eye size={15} />
      </button>
      <button className="button" onClick={() => void store.send({ CancelTurn: { turn_id: turn } })}>
        <Square size={13} aria-hidden /> Stop
      </button>
    </p>
  );
}
