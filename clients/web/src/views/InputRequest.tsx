// What a run asks on stdin.
import { useState } from "react";
import type { NotebookStore } from "../app/store.ts";
import type { PendingInput } from "../protocol/messages.ts";

export function InputRequest({ store, executionId, input }: { store: NotebookStore; executionId: string; input: PendingInput }) {
  const [value, setValue] = useState("");
  return (
    <form
      className="input row"
      onSubmit={(event) => {
        event.preventDefault();
        void store.do({ AnswerInput: { execution_id: executionId, value } });
      }}
    >
      <label className="row grow">
        <span className="mono">{input.prompt || "Input"}</span>
        <input
          className="field mono grow"
          autoFocus
          type={input.password ? "password" : "text"}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          autoComplete="off"
        />
      </label>
      <button className="button">Answer</button>
    </form>
  );
}
