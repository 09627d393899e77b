// Input requests of a run (stdin): the pending one, and earlier ones with their answers.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import type { RunInput } from "../../app/state/inputs.ts";
import { useTopics } from "../../app/state/topics.ts";
import type { PendingInput } from "../../protocol/messages.ts";
import { useName } from "../../ui/Author.tsx";

export function InputRequest({ store, executionId, input }: { store: NotebookStore; executionId: string; input: PendingInput }) {
  const [value, setValue] = useState("");
  const [back, setBack] = useState(0);
  const { answers } = store;
  const field = useRef<HTMLInputElement>(null);
  // Take the focus only if the user is not typing elsewhere.
  useEffect(() => {
    if (store.focus.isFree) store.focus.take(field.current);
  }, [store]);
  const recall = (event: KeyboardEvent) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step === undefined || input.password) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(answers.length, back + step));
    setBack(next);
    setValue(answers[answers.length - next] ?? "");
  };
  return (
    <form
      className="input row"
      onSubmit={(event) => {
        event.preventDefault();
        if (!input.password && value !== "" && answers.at(-1) !== value) answers.push(value);
        void store.send({ AnswerInput: { execution_id: executionId, value } });
      }}
    >
      <label className="row grow">
        <span className="mono">{input.prompt || "Input"}</span>
        <input
          className="field mono grow"
          ref={field}
          type={input.password ? "password" : "text"}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          onKeyDown={recall}
          title={answers.length > 0 && !input.password ? "Press ↑ for earlier answers" : undefined}
          autoComplete="off"
        />
      </label>
      <button className="button">Answer</button>
    </form>
  );
}

/** Answers stay visible after the run; password values are never recorded. */
export function AnsweredInputs({ store, executionId, isOpen }: { store: NotebookStore; executionId: string; isOpen: boolean }) {
  const subject = store.document.executions.get(executionId)?.subject;
  const source = subject && "source" in subject ? subject.source : "";
  useTopics(store, "inputs");
  const all = store.inputs.of(executionId, source).filter(({ answered_by }) => answered_by || !isOpen);
  if (all.length === 0) return null;
  return (
    <dl className="answered-inputs small" aria-label="Input">
      {all.map((asked) => (
        <AnsweredInput key={asked.version} store={store} asked={asked} />
      ))}
    </dl>
  );
}

function AnsweredInput({ store, asked }: { store: NotebookStore; asked: RunInput }) {
  const name = useName(store, asked.answered_by ?? undefined);
  return (
    <div>
      <dt className="mono">{asked.prompt || "Input"}</dt>
      <dd>
        {!asked.answered_by ? (
          <span className="quiet">No answer</span>
        ) : asked.password ? (
          <span className="quiet">Hidden</span>
        ) : (
          <code>{asked.value || "(empty)"}</code>
        )}
        {name !== "" && name !== "You" && <span className="quiet"> · {name}</span>}
      </dd>
    </div>
  );
}
