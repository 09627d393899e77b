// Messages of a conversation, and the one being streamed.
import { EllipsisVertical, Pin, RotateCcw, Undo2 } from "lucide-react";
import { Menu } from "@base-ui/react/menu";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { chosenModel, mayAsk } from "../../app/state/asking.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import {
  type CallEnd,
  type Said,
  endOf,
  isObject,
  joined,
  repeatsOf,
  resultsOf,
  saidOf,
  withoutIds,
} from "../../app/words/talk.ts";
import { duration, plain } from "../../app/words/words.ts";
import type { Interrupted } from "../../app/state/writings.ts";
import type { Command, MessageBlock, MessagePosted } from "../../protocol/messages.ts";
import type { MessagePage, TurnPage, TurnSummary as Turn } from "../../protocol/rest.ts";
import { Rejected } from "../../transport/outbox.ts";
import { Answer } from "./Answer.tsx";
import { Attached } from "./Attached.tsx";
import { Rendered } from "../outputs/Rendered.tsx";
import { ToolCallView } from "./ToolCall.tsx";
import { MenuPopup } from "../../ui/MenuPopup.tsx";

export type { Turn };

interface Props {
  store: NotebookStore;
  conversation: string;
  messages: Said[];
  ends: ReadonlyMap<string, CallEnd>;
  turns: readonly Turn[];
  /** Id of the open turn. */
  turn: string | undefined;
}

const hasFailed = (turns: readonly Turn[], turn: string | undefined): boolean =>
  turns.some(({ id, status }) => id === turn && ["failed", "cancelled"].includes(String(status)));

export function Messages({ store, conversation, messages, ends, turns, turn }: Props) {
  const results = useMemo(() => resultsOf(messages, ends), [messages, ends]);
  const repeats = useMemo(() => repeatsOf(messages, (each) => hasFailed(turns, each)), [messages, turns]);
  const hidden = useMemo(() => new Set([...repeats.values()].flat()), [repeats]);
  const { interrupted } = useWriting(store, turn);
  return (
    <>
      {messages.map((message, index) => {
        const isLast = message.turn !== undefined && messages[index + 1]?.turn !== message.turn;
        return (
          <div key={message.id} className={`message ${message.role}`}>
            <Halves of={interrupted.filter(({ before }) => before === message.id)} turn={turn} />
            {!hidden.has(message.id) && (
              <MessageView
                {...{ store, conversation, message, results, ends }}
                ids={[message.id, ...(repeats.get(message.id) ?? [])]}
              />
            )}
            {isLast && (
              <Halves of={interrupted.filter((each) => each.turn === message.turn && each.before === undefined)} turn={turn} />
            )}
            {isLast && message.turn !== turn && (
              <TurnEnd
                store={store}
                conversation={conversation}
                turn={message.turn ?? ""}
                all={turns}
                messages={messages}
                results={results}
                isLast={index === messages.length - 1}
                isBusy={turn !== undefined}
              />
            )}
          </div>
        );
      })}
    </>
  );
}

/** Halves of answers that an interruption kept from the record. */
export function Halves({ of, turn }: { of: readonly Interrupted[]; turn: string | undefined }) {
  return of.map((half, index) => (
    <div key={index} className="said assistant half" role="group" aria-label="Interrupted answer">
      <div className="rendered">
        <Rendered text={half.text} />
      </div>
      <p className="small quiet">
        Interrupted: this part isn’t saved, and goes when you close the page.
        {half.turn === turn && half.before === undefined && " The assistant answers again…"}
      </p>
    </div>
  ));
}

interface MessageProps {
  store: NotebookStore;
  conversation: string;
  message: Said;
  /** The message and its repeats. */
  ids: readonly string[];
  results: Map<string, { text: string; isError: boolean }>;
  ends: ReadonlyMap<string, CallEnd>;
}

function MessageView({ store, conversation, message, ids, results, ends }: MessageProps) {
  const flags = store.document.conversations.get(conversation)?.flagged?.[message.id];
  if (message.role === "tool") return null;
  const attachments = message.blocks.flatMap((block) => (isObject(block) && "attachment" in block ? [block.attachment] : []));
  return (
    <div className={`said ${message.role}${flags?.skipped ? " skipped" : ""}`}>
      {flags?.pinned && (
        <span className="small quiet">
          <Pin size={12} aria-hidden /> Pinned
        </span>
      )}
      {message.blocks.map((block, index) => {
        if (!isObject(block)) return <UnknownBlock key={index} block={block} />;
        if ("text" in block)
          return (
            <div key={index} className="rendered">
              {message.role === "assistant" ? (
                <Answer store={store} text={block.text.text} />
              ) : (
                <Rendered text={withoutIds(block.text.text)} />
              )}
            </div>
          );
        // Opaque blocks are for the model only; results and attachments are shown with their call or below.
        if ("opaque" in block || "tool_result" in block || "attachment" in block) return null;
        if (!("tool_call" in block)) return <UnknownBlock key={index} block={block} />;
        const { call_id } = block.tool_call;
        return (
          <ToolCallView key={index} store={store} call={block.tool_call} result={results.get(call_id)} end={ends.get(call_id)} />
        );
      })}
      {attachments.length > 0 && (
        <div className="row attachments">
          {attachments.map((attachment, index) => (
            <Attached key={index} store={store} attachment={attachment} />
          ))}
        </div>
      )}
      {message.isPartial && <p className="small quiet">Stopped</p>}
      <MessageMenu store={store} conversation={conversation} message={message} ids={ids} />
    </div>
  );
}

/** Placeholder for a block type of a later version. */
function UnknownBlock({ block }: { block: unknown }) {
  return <div className="quiet small">[{plain(block)}]</div>;
}

function MessageMenu({ store, conversation, message, ids }: Pick<MessageProps, "store" | "conversation" | "message" | "ids">) {
  const flags = store.document.conversations.get(conversation)?.flagged?.[message.id];
  const { pinned, skipped } = { pinned: flags?.pinned ?? false, skipped: flags?.skipped ?? false };
  const flag = (change: { pinned?: boolean; skipped?: boolean }) => {
    const commands: Command[] = ids.map((message_id) => ({
      FlagMessage: { conversation_id: conversation, message_id, ...change },
    }));
    void store.send({ Batch: { commands } });
  };
  const text = message.blocks.map((block) => (isObject(block) && "text" in block ? block.text.text : "")).join("\n");
  return (
    <Menu.Root>
      <Menu.Trigger className="button bare icon more" aria-label="Message actions">
        <EllipsisVertical size={14} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="above">
          <MenuPopup>
            <Menu.Item
              className="item"
              disabled={!store.mayEdit}
              onClick={() => flag({ pinned: !pinned, ...(skipped && { skipped: false }) })}
            >
              {pinned ? "Stop always including in context" : "Always include in context"}
            </Menu.Item>
            <Menu.Item
              className="item"
              disabled={!store.mayEdit}
              onClick={() => flag({ skipped: !skipped, ...(pinned && { pinned: false }) })}
            >
              {skipped ? "Include in context again" : "Exclude from context"}
            </Menu.Item>
            <Menu.Item className="item" onClick={() => void navigator.clipboard.writeText(text)}>
              Copy text
            </Menu.Item>
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

interface TurnEndProps {
  store: NotebookStore;
  conversation: string;
  turn: string;
  all: readonly Turn[];
  messages: Said[];
  results: ReadonlyMap<string, { isError: boolean }>;
  /** True if no later turn exists in the conversation. */
  isLast: boolean;
  /** True if another turn is open in the conversation. */
  isBusy: boolean;
}

/** Sends the turn's question again, with its attachments. */
async function askAgain({ store, conversation: conversation_id, messages, turn }: TurnEndProps): Promise<void> {
  const question = messages.find((each) => each.turn === turn && each.role === "user");
  if (!question) return;
  const blocks = question.blocks.filter(isObject);
  const text = blocks.flatMap((block) => ("text" in block ? [block.text.text] : [])).join("\n");
  const model = chosenModel();
  const attachments = blocks.flatMap((block) => ("attachment" in block ? [block.attachment] : []));
  await store.send({
    StartTurn: { conversation_id, text, ...(model && { model }), ...(attachments.length > 0 && { attachments }) },
  });
}

/** Undoes a turn. `nothing_to_undo` means that others have undone it: mark it as undone too. */
async function undoTurn(store: NotebookStore, turn: string, calls: string[]): Promise<void> {
  try {
    await store.replica.command({ Undo: { turn_id: turn } });
    store.effects.add(calls);
  } catch (error) {
    const isNothingLeft = error instanceof Rejected && error.code === "nothing_to_undo";
    if (isNothingLeft) store.effects.add(calls);
    store.toast({ text: isNothingLeft ? "Nothing left to undo." : (error as Error).message, isError: !isNothingLeft });
  }
  store.touch("assistants");
}

/** Status, duration and token usage of an ended turn, with undo and retry. */
function TurnEnd(props: TurnEndProps) {
  const { store, turn, all, messages, results, isLast, isBusy } = props;
  const known = all.find(({ id }) => id === turn);
  const said = messages.filter((each) => each.turn === turn);
  const ofTurn = said.flatMap(({ blocks }) => blocks.filter(isObject));
  // A partial message already shows that it was stopped.
  const saysStopped = said.some(({ isPartial }) => isPartial);
  const calls = store.effects.changing(
    ofTurn.flatMap((block) => ("tool_call" in block ? [block.tool_call] : [])),
    results,
  );
  const isUndone = calls.length > 0 && calls.every((call) => store.effects.isUndone(call));
  const mayTryAgain = isLast && hasFailed(all, turn);
  const ended = known?.ended_at ?? undefined;
  const { input_tokens = 0, output_tokens = 0, estimated = false } = known?.usage ?? {};
  const number = new Intl.NumberFormat();
  const facts = [
    known?.status === "failed" && `Failed: ${known.cause ?? "unknown"}`,
    known?.status === "cancelled" && !saysStopped && "Stopped",
    known?.stop_reason === "max_tokens" && "Cut off: too long",
    known?.stop_reason === "max_turns" && "Stopped after too many steps",
    known && ended !== undefined && duration(ended - known.started_at),
    input_tokens + output_tokens > 0 &&
      `${estimated ? "About " : ""}${number.format(input_tokens)} tokens in, ${number.format(output_tokens)} out`,
    known?.model,
    isUndone && "Undone",
  ].filter((fact): fact is string => typeof fact === "string");
  if (facts.length === 0 && calls.length === 0) return null;
  return (
    <p className="turn-end small quiet">
      <span className={known?.status === "failed" ? "grow bad" : "grow"}>{facts.join(" · ")}</span>
      {mayTryAgain && (
        <button
          className="button bare small"
          disabled={!mayAsk(store) || isBusy}
          title={isBusy ? "The assistant is busy" : "Asks the same question again"}
          onClick={() => void askAgain(props)}
        >
          <RotateCcw size={13} aria-hidden /> Try again
        </button>
      )}
      {calls.length > 0 && !isUndone && (
        <button
          className="button bare small"
          disabled={!store.mayEdit}
          title="Undoes every change of this turn. Runs are not undone."
          onClick={() => void undoTurn(store, turn, calls)}
        >
          <Undo2 size={13} aria-hidden /> Undo this turn
        </button>
      )}
    </p>
  );
}

/** Messages of a conversation: earlier ones by REST, new ones from events. */
export function useMessages(store: NotebookStore, conversation: string): { messages: Said[]; isLoading: boolean } {
  const [messages, setMessages] = useState<Said[]>([]);
  const [isLoading, setIsLoading] = useState(false);
  // Messages of the time that a snapshot skips come by REST.
  const [snapshots, setSnapshots] = useState(0);
  useEffect(() => {
    return store.replica.replaced.add(() => setSnapshots((before) => before + 1));
  }, [store]);
  useEffect(() => {
    setMessages([]);
    setIsLoading(false);
    let isGone = false;
    const end = store.replica.folded.add((event) => {
      const posted = event.payload as MessagePosted;
      if (event.type === "MessagePosted" && posted.conversation_id === conversation)
        setMessages((before) => joined(before, [saidOf(posted)]));
    });
    if (store.document.conversations.has(conversation)) {
      setIsLoading(true);
      const path = `/api/notebooks/${store.id}/conversations/${conversation}/messages?limit=100`;
      store.session.rest
        .get<MessagePage>(path)
        .then(
          (page) => {
            const earlier = page.messages.map((each): Said => {
              return {
                id: each.id,
                role: plain(each.role),
                blocks: each.blocks as MessageBlock[],
                turn: each.turn_id ?? undefined,
                isPartial: each.is_partial ?? false,
              };
            });
            if (!isGone) setMessages((later) => joined(earlier.toReversed(), later));
          },
          (failure: Error) => !isGone && store.toast({ text: failure.message, isError: true }),
        )
        .finally(() => !isGone && setIsLoading(false));
    }
    return () => {
      isGone = true;
      end();
    };
  }, [store, conversation, snapshots]);
  return { messages, isLoading };
}

/** Ends of calls from events, since the panel opened. Earlier calls have results in messages. */
export function useEnds(store: NotebookStore): ReadonlyMap<string, CallEnd> {
  const [ends, setEnds] = useState<ReadonlyMap<string, CallEnd>>(new Map());
  useEffect(() => {
    return store.replica.folded.add((event) => {
      const end = endOf(event);
      if (end) setEnds((before) => new Map([...before, end]));
    });
  }, [store]);
  return ends;
}

/** Turns of a conversation, reloaded when the open turn changes. */
export function useTurns(store: NotebookStore, conversation: string, turn: string | undefined): Turn[] {
  const [turns, setTurns] = useState<Turn[]>([]);
  useEffect(() => {
    if (!store.document.conversations.has(conversation)) return setTurns([]);
    let isGone = false;
    store.session.rest.get<TurnPage>(`/api/notebooks/${store.id}/turns?conversation=${conversation}&limit=100`).then(
      (page) => !isGone && setTurns(page.turns),
      () => undefined,
    );
    return () => void (isGone = true);
  }, [store, conversation, turn]);
  return turns;
}

/** Text that the assistant is writing, and answers that were interrupted. */
export function useWriting(store: NotebookStore, turn: string | undefined): { text: string; interrupted: readonly Interrupted[] } {
  const { writings } = store;
  const subscribe = useCallback((changed: () => void) => writings.changed.add(changed), [writings]);
  const text = useSyncExternalStore(subscribe, () => writings.text(turn));
  const interrupted = useSyncExternalStore(subscribe, () => writings.interrupted);
  return { text, interrupted };
}
