// The top of a notebook: its title, how it is connected, its kernel, who is here, what one does most.
import { Bot, Command, History, House, Play, Square } from "lucide-react";
import { useState } from "react";
import type { Session } from "../app/session.ts";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { keyLabel, page } from "../commands/table.ts";
import { ConnectionStatus } from "./ConnectionStatus.tsx";
import { Kernel } from "./Kernel.tsx";
import { People } from "./People.tsx";

export function Bar({ store, signedIn }: { store: NotebookStore; signedIn: (session: Session) => void }) {
  useTopics(store, "notebook", "panel", "executions");
  const isRunning = store.queue.length > 0;
  return (
    <header className="bar">
      <a className="button bare icon" href="#/" aria-label="All notebooks" title="All notebooks">
        <House size={17} />
      </a>
      <Title store={store} />
      <ConnectionStatus store={store} signedIn={signedIn} />
      <span className="grow" />
      <People store={store} />
      <Kernel store={store} />
      {isRunning ? (
        <button className="button" onClick={() => void store.do({ StopAll: {} })} disabled={!store.mayRun}>
          <Square size={14} aria-hidden /> Stop all
        </button>
      ) : (
        <button className="button" onClick={() => void store.run(store.document.order)} disabled={!store.mayRun}>
          <Play size={14} aria-hidden /> Run all
        </button>
      )}
      <button
        className="button bare icon"
        aria-pressed={store.panel === "assistant"}
        onClick={() => store.show("assistant")}
        aria-label="Assistant"
        title="Assistant"
      >
        <Bot size={17} />
      </button>
      <button
        className="button bare icon"
        aria-pressed={store.panel === "history"}
        onClick={() => store.show("history")}
        aria-label="History"
        title="History"
      >
        <History size={17} />
      </button>
      <button
        className="button bare icon"
        onClick={() => page.palette?.()}
        aria-label="All commands"
        title={`All commands (${keyLabel("$mod+k")})`}
      >
        <Command size={17} />
      </button>
    </header>
  );
}

function Title({ store }: { store: NotebookStore }) {
  const { title, archived } = store.document;
  const [draft, setDraft] = useState<string>();
  const save = () => {
    if (draft !== undefined && draft !== title) void store.do({ RenameNotebook: { title: draft } });
    setDraft(undefined);
  };
  return (
    <h1 className="title">
      <input
        aria-label="Title"
        value={draft ?? title}
        placeholder="Untitled"
        readOnly={!store.mayEdit}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") setDraft(undefined);
        }}
      />
      {archived && <span className="tag">Archived</span>}
      {store.replica.isReadOnly && (
        <span className="tag" title="A newer server has written this notebook: update this one">
          Read only
        </span>
      )}
    </h1>
  );
}
