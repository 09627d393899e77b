// Inline question to the assistant about a cell, with the answer as a proposal. Lazy: loads at first use.
import { Bot, Check, RotateCcw, Square, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import { again, apply, send, settle } from "../../app/state/inline.ts";
import type { Inline } from "../../app/state/inlineField.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import WordDiff from "../../ui/Diff.tsx";
import { Rendered } from "../outputs/Rendered.tsx";

export default function InlineQuestion({ store, asked }: { store: NotebookStore; asked: Inline }) {
  useTopics(store, "assistants", "status", "access");
  useEnd(store, asked);
  const close = () => leave(store);
  const leaveByEscape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return (
    <div className="inline-question" role="group" aria-label="Question about this cell" onKeyDown={leaveByEscape}>
      {asked.proposal !== undefined ? (
        <Proposal store={store} asked={asked} close={close} />
      ) : asked.turn !== undefined ? (
        <Working store={store} turn={asked.turn} />
      ) : (
        <Field store={store} asked={asked} close={close} />
      )}
      {asked.answer !== undefined && (
        <div className="rendered" role="status">
          <Rendered text={asked.answer} />
        </div>
      )}
    </div>
  );
}

/** Closes the question and returns the caret to the cell's editor. */
function leave(store: NotebookStore): void {
  const cell = store.inline.asked?.cell;
  store.inline.set(undefined);
  store.focus.act();
  if (cell === undefined || !store.document.cells.has(cell)) return;
  store.select(cell, { edit: true });
  store.focus.take(document.querySelector<HTMLElement>(`#cell-${CSS.escape(cell)} .cm-content`), { preventScroll: true });
}

/** Fetches the result after the turn has ended, also after a reconnect. */
function useEnd(store: NotebookStore, asked: Inline): void {
  const begun = useRef<string>(undefined);
  const { turn } = asked;
  const isLive = store.session.connection.state.name === "live";
  const isOpen = turn !== undefined && store.document.turns.has(turn);
  if (isOpen) begun.current = turn;
  const isOver = turn !== undefined && isLive && !isOpen && (begun.current === turn || asked.isSent === true);
  useEffect(() => {
    if (isOver) void settle(store, asked);
  }, [store, asked, isOver]);
  useEffect(() => {
    return () => {
      if (store.inline.asked?.cell !== asked.cell || store.document.cells.has(asked.cell)) return;
      store.inline.set(undefined);
      if (asked.turn === undefined && asked.proposal === undefined) return;
      store.toast({
        text: "The cell you asked about was deleted. The answer is in the assistant’s conversation.",
        action: { label: "Show", run: () => store.panel !== "assistant" && store.show("assistant") },
      });
    };
  }, [store, asked]);
}

interface Props {
  store: NotebookStore;
  asked: Inline;
  close: () => void;
}

function Field({ store, asked, close }: Props) {
  const refusal = refusalOf(store);
  const isReady = asked.question.trim() !== "" && refusal === undefined;
  const place = useRef<HTMLInputElement>(null);
  // Focus moves to the field only when the user opens it: an answer must not take the focus from an editor.
  useLayoutEffect(() => {
    if (store.focus.isOpening) place.current?.focus();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) void send(store, asked);
  };
  return (
    <form className="row" onSubmit={submit}>
      <Bot size={15} aria-hidden />
      <input
        className="field grow"
        data-opened
        dir="auto"
        aria-label="Ask about this cell"
        placeholder={asked.marked === "" ? "What should change in this cell?" : "What should change in these lines?"}
        value={asked.question}
        ref={place}
        onChange={({ target }) => store.inline.set({ ...asked, question: target.value })}
      />
      <button className="button" disabled={!isReady}>
        {asked.problem === undefined ? (
          "Ask"
        ) : (
          <>
            <RotateCcw size={13} aria-hidden /> Try again
          </>
        )}
      </button>
      <button type="button" className="button bare icon" aria-label="Close" title="Close (Esc)" onClick={close}>
        <X size={15} />
      </button>
      {(refusal ?? asked.problem) !== undefined && (
        <p className="error small" role="alert">
          {refusal ?? asked.problem}
        </p>
      )}
    </form>
  );
}

function refusalOf(store: NotebookStore): string | undefined {
  if (!store.mayConverse) return "Your role doesn’t include the assistant. Ask an owner for access.";
  // Offline the feature is unknown, so the question waits.
  if (store.session.connection.welcome?.features.includes("assistants") === false)
    return "No model provider is set up. Start the server with a key such as ANTHROPIC_API_KEY.";
  return undefined;
}

function Working({ store, turn }: { store: NotebookStore; turn: string }) {
  return (
    <p className="row small quiet" role="status">
      <Bot size={15} aria-hidden />
      <span className="grow">The assistant is writing…</span>
      <button className="button bare small" onClick={() => void store.send({ CancelTurn: { turn_id: turn } })}>
        <Square size={12} aria-hidden /> Stop
      </button>
    </p>
  );
}

function Proposal({ store, asked, close }: Props) {
  const { before, proposal = "" } = asked;
  const isSame = before?.source === proposal;
  const take = () => void apply(store, asked).then((isDone) => isDone && close());
  return (
    <>
      <div className="row small">
        <Bot size={15} aria-hidden />
        <span className="grow" role="status">
          {isSame ? "The assistant would change nothing." : "The assistant proposes a change"}
        </span>
        {!isSame && (
          <button className="button small" disabled={!store.mayEdit} onClick={take}>
            <Check size={13} aria-hidden /> Apply
          </button>
        )}
        <button className="button bare small" onClick={() => again(store, asked)}>
          <RotateCcw size={13} aria-hidden /> Ask again
        </button>
        <button className="button bare small" onClick={close}>
          <X size={13} aria-hidden /> Discard
        </button>
      </div>
      {!isSame && <WordDiff before={before?.source ?? ""} after={proposal} />}
    </>
  );
}
