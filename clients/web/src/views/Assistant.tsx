// The side panel of the assistant: what was said, what it does, what waits for a person.
import { Plus, Square, Undo2 } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { plain } from "../app/words.ts";
import { renderMarkdown } from "../outputs/safe.ts";
import type { ActivityKind, MessageBlock, MessagePosted } from "../protocol/messages.ts";
import type { components } from "../protocol/rest.ts";
import { newId } from "../transport/ids.ts";
import { ConfirmationCard } from "./Confirmation.tsx";

interface Said {
  id: string;
  role: string;
  blocks: MessageBlock[];
  turn: string | undefined;
}

type MessagePage = components["schemas"]["MessagePage"];

export function Assistant({ store }: { store: NotebookStore }) {
  useTopics(store, "assistants", "status");
  const [chosen, setChosen] = useState<string>();
  const { document } = store;
  const conversation = chosen ?? store.conversation ?? "";
  const messages = useMessages(store, conversation);
  const turn = document.conversations.get(conversation)?.turn ?? undefined;
  const live = useActivity(store, turn);
  const waiting = [...document.tool_calls].filter(([, call]) => call.phase.phase === "waiting");
  const hasAssistants = store.session.connection.welcome?.features.includes("assistants") ?? true;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => void end.current?.scrollIntoView({ block: "end" }), [messages.length, live, waiting.length]);

  const ask = async (text: string) => {
    const conversation_id = conversation || newId();
    setChosen(conversation_id);
    return store.do({ StartTurn: { conversation_id, text } });
  };

  return (
    <aside className="panel" aria-label="Assistant">
      <header className="row">
        <h2 className="grow">Assistant</h2>
        {document.conversations.size > 0 && (
          <select aria-label="Conversation" value={conversation} onChange={(event) => setChosen(event.target.value)}>
            {!document.conversations.has(conversation) && <option value={conversation}>New conversation</option>}
            {[...document.conversations].map(([id, each]) => (
              <option key={id} value={id}>
                {each.title || "Conversation"}
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
      </header>
      <div className="transcript" role="log" aria-label="Conversation">
        {messages.length === 0 && !turn && (
          <p className="quiet empty">Ask about this notebook, or for changes to it. What it would destroy waits for your word.</p>
        )}
        {messages.map((message) => (
          <MessageView key={message.id} store={store} message={message} isOver={message.turn !== turn} />
        ))}
        {live && <div className="said assistant" aria-busy dangerouslySetInnerHTML={{ __html: renderMarkdown(live, undefined) }} />}
        {waiting.map(([id, call]) => (
          <ConfirmationCard key={id} store={store} id={id} call={call} />
        ))}
        <div ref={end} />
      </div>
      {turn && (
        <p className="working row" role="status">
          <span className="grow">The assistant is working …</span>
          <button className="button" onClick={() => void store.do({ CancelTurn: { turn_id: turn } })}>
            <Square size={13} aria-hidden /> Stop
          </button>
        </p>
      )}
      {hasAssistants ? (
        <Composer ask={ask} isBusy={turn !== undefined} />
      ) : (
        <p className="quiet note">This server has no model provider: start it with a key, for instance ANTHROPIC_API_KEY.</p>
      )}
    </aside>
  );
}

function Composer({ ask, isBusy }: { ask: (text: string) => Promise<unknown>; isBusy: boolean }) {
  const [text, setText] = useState("");
  const send = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (text.trim() === "" || isBusy) return;
    // What could not be sent stays in the field.
    void ask(text).then((done) => done !== undefined && setText(""));
  };
  return (
    <form className="composer" onSubmit={send}>
      <textarea
        className="field"
        rows={3}
        aria-label="Message to the assistant"
        placeholder="Ask or tell the assistant …"
        value={text}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && send(event)}
      />
      <button className="button primary" disabled={isBusy || text.trim() === ""}>
        Send
      </button>
    </form>
  );
}

function MessageView({ store, message, isOver }: { store: NotebookStore; message: Said; isOver: boolean }) {
  return (
    <div className={`said ${message.role}`}>
      {message.blocks.map((block, index) => {
        if ("text" in block)
          return <div key={index} dangerouslySetInnerHTML={{ __html: renderMarkdown(block.text.text, undefined) }} />;
        if ("tool_call" in block) return <ToolCallView key={index} store={store} call={block.tool_call} />;
        return null;
      })}
      {message.role === "assistant" && message.turn && isOver && message.blocks.some((block) => "tool_call" in block) && (
        <button className="button bare small" onClick={() => void store.do({ Undo: { turn_id: message.turn ?? null } })}>
          <Undo2 size={13} aria-hidden /> Undo what it did in this turn
        </button>
      )}
    </div>
  );
}

const PHASES: Record<string, string> = {
  waiting: "waits for a person",
  confirmed: "confirmed",
  passed: "is about to start",
  started: "is under way",
};

function ToolCallView({ store, call }: { store: NotebookStore; call: { call_id: string; function: string; arguments?: unknown } }) {
  const phase = store.document.tool_calls.get(call.call_id)?.phase.phase;
  return (
    <details className="call">
      <summary>
        <code>{plain(call.function)}</code> <span className="quiet small">{phase ? (PHASES[phase] ?? plain(phase)) : "ended"}</span>
      </summary>
      <pre className="small">
        {typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}, null, 2)}
      </pre>
    </details>
  );
}

/** What was said, from REST, and what is said from then on, from the events. */
function useMessages(store: NotebookStore, conversation: string): Said[] {
  const [messages, setMessages] = useState<Said[]>([]);
  useEffect(() => {
    setMessages([]);
    const add = (said: Said[]) =>
      setMessages((before) => [...before.filter((old) => !said.some(({ id }) => id === old.id)), ...said]);
    const end = store.replica.folded.add((event) => {
      const posted = event.payload as MessagePosted;
      if (event.type !== "MessagePosted" || posted.conversation_id !== conversation) return;
      add([{ id: posted.message_id, role: posted.role, blocks: posted.blocks, turn: posted.turn_id ?? undefined }]);
    });
    if (store.document.conversations.has(conversation)) {
      const path = `/api/notebooks/${store.id}/conversations/${conversation}/messages?limit=100`;
      store.session.rest.get<MessagePage>(path).then(
        (page) => {
          const earlier = page.messages.map((each): Said => ({
            id: each.id,
            role: each.role,
            blocks: each.blocks as MessageBlock[],
            turn: each.turn_id ?? undefined,
          }));
          setMessages((later) => [...earlier.toReversed().filter(({ id }) => !later.some((each) => each.id === id)), ...later]);
        },
        (failure: Error) => store.toast({ text: failure.message, isError: true }),
      );
    }
    return end;
  }, [store, conversation]);
  return messages;
}

/** What the assistant is writing this moment. What it comes to follows as a message, and counts. */
function useActivity(store: NotebookStore, turn: string | undefined): string {
  const [text, setText] = useState("");
  useEffect(() => {
    setText("");
    if (!turn) return;
    const ends = [
      store.replica.message.add((message) => {
        if (!("activity" in message)) return;
        const mine = message.activity.activity.filter((each) => each.turn_id === turn).map((each) => each.what);
        setText((before) => mine.reduce(write, before));
      }),
      store.replica.folded.add((event) => event.type === "MessagePosted" && setText("")),
    ];
    return () => ends.forEach((end) => end());
  }, [store, turn]);
  return text;
}

function write(text: string, what: ActivityKind): string {
  if (what.type === "text_delta") return text + what.text;
  if (what.type === "text_start" && text !== "") return `${text}\n\n`;
  return what.type === "attempt_failed" ? "" : text;
}
