// The bar of a notebook: title, connection, kernel, people and the main actions.
import {
  Bot,
  CalendarClock,
  CircleX,
  Ellipsis,
  FolderOpen,
  History,
  House,
  MessageSquare,
  Play,
  Redo2,
  Share2,
  Square,
  Undo2,
} from "lucide-react";
import { memo, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { keyLabel, page } from "../../commands/table.ts";
import { MOST_NAME, guestName, keepGuestName } from "../../app/session/guest.ts";
import { serverNow, useNow } from "../../app/session/clock.ts";
import { failedCells } from "../../app/state/progress.ts";
import { clock } from "../../app/words/words.ts";
import { ConnectionStatus } from "./ConnectionStatus.tsx";
import { Kernel } from "../panels/kernel/Kernel.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { Bell } from "../inbox/Bell.tsx";
import { People } from "./People.tsx";

export function Bar({ store }: { store: NotebookStore }) {
  useTopics(store, "notebook", "panel", "executions");
  const isRunning = store.queue.length > 0;
  const isBusy = isRunning || store.runs.isWaiting;
  return (
    <header className="bar">
      <a className="button bare icon" href="#/" aria-label="All notebooks" title="All notebooks">
        <House size={17} />
      </a>
      <Title store={store} />
      <ConnectionStatus store={store} />
      <span className="grow" />
      {/* First in the row: the buttons after it do not move when it appears or disappears. */}
      {isRunning ? <ProgressButton store={store} /> : <Failures store={store} />}
      <Steps store={store} />
      <People store={store} />
      <Kernel store={store} />
      {isBusy ? (
        <button className="button all-runs" aria-label="Stop all" onClick={() => store.runs.stopAll()} disabled={!store.mayRun}>
          <Square size={14} aria-hidden /> <span className="word">Stop all</span>
        </button>
      ) : (
        <button
          className="button all-runs"
          aria-label="Run all"
          onClick={() => void store.runs.start(store.document.order)}
          disabled={!store.mayRun}
        >
          <Play size={14} aria-hidden /> <span className="word">Run all</span>
        </button>
      )}
      <IconButton className="less" label="Share" onClick={() => page.share?.()}>
        <Share2 size={16} />
      </IconButton>
      <IconButton label="Assistant" isPressed={store.panel === "assistant"} onClick={() => store.show("assistant")}>
        <Bot size={17} />
      </IconButton>
      <CommentsButton store={store} />
      <Bell session={store.session} />
      <IconButton className="wide" label="Files" isPressed={store.panel === "files"} onClick={() => store.show("files")}>
        <FolderOpen size={16} />
      </IconButton>
      {/* Guests can set none. */}
      {store.session.me.actor.kind === "user" && (
        <IconButton className="wide" label="Schedules" onClick={() => page.schedules?.()}>
          <CalendarClock size={16} />
        </IconButton>
      )}
      <IconButton className="less" label="History" isPressed={store.panel === "history"} onClick={() => store.show("history")}>
        <History size={17} />
      </IconButton>
      <IconButton label="All commands" title={`All commands (${keyLabel("$mod+Shift+p")})`} onClick={() => page.palette?.()}>
        <Ellipsis size={17} />
      </IconButton>
    </header>
  );
}

function CommentsButton({ store }: { store: NotebookStore }) {
  useTopics(store, "comments", "panel");
  const isOpen = store.panel === "comments";
  const unseen = isOpen ? 0 : store.comments.unseen;
  const words = unseen === 0 ? "Comments" : `Comments: ${unseen} new`;
  return (
    <button
      className={unseen > 0 ? "button bare icon comments-button unseen" : "button bare icon comments-button"}
      aria-pressed={isOpen}
      onClick={() => store.show("comments")}
      aria-label={words}
      title={words}
    >
      <MessageSquare size={16} />
    </button>
  );
}

/** Shows a limited role, so that users know it before they try to edit. */
function RoleTag({ store }: { store: NotebookStore }) {
  useTopics(store, "access");
  const { role } = store.replica;
  const words = { viewer: "Can view", commenter: "Can comment", runner: "Can run", author: "Can edit" }[role as string];
  if (store.session.me.actor.kind === "guest") return <GuestTag store={store} words={words} />;
  return words ? <span className="tag plain">{words}</span> : null;
}

/** Lets a guest set a display name: all guests of a link share the link's name. */
function GuestTag({ store, words }: { store: NotebookStore; words: string | undefined }) {
  const [name, setName] = useState(() => guestName());
  const [isNaming, setIsNaming] = useState(false);
  const { connection, me } = store.session;
  const save = (text: string) => {
    setIsNaming(false);
    const kept = keepGuestName(text);
    setName(kept);
    connection.callMe(kept);
  };
  if (isNaming)
    return (
      <input
        className="field short guest-name"
        aria-label="Your name"
        placeholder="Your name"
        defaultValue={name}
        maxLength={MOST_NAME}
        autoFocus
        onBlur={(event) => save(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") setIsNaming(false);
        }}
      />
    );
  const who = `Guest “${name ?? me.name}”`;
  return (
    <button
      className="tag plain"
      title={`The link is for “${me.name}”. Click to choose your name`}
      onClick={() => setIsNaming(true)}
    >
      {[who, words].filter(Boolean).join(": ")}
    </button>
  );
}

/** Undo and redo buttons. The server tracks the steps across all sessions of a user. */
function Steps({ store }: { store: NotebookStore }) {
  useTopics(store, "status");
  if (!store.mayEdit) return null;
  const steps = [
    { command: "Undo", name: "undo", icon: <Undo2 size={16} /> },
    { command: "Redo", name: "redo", icon: <Redo2 size={16} /> },
  ] as const;
  return (
    <span className="steps-back">
      {steps.map(({ command, name, icon }) => {
        const words = store.nextWords(name);
        return (
          <IconButton key={name} label={words ?? `Nothing to ${name}`} disabled={!words} onClick={() => store.edits.step(command)}>
            {icon}
          </IconButton>
        );
      })}
    </span>
  );
}

/** “3 / 12 · 40 s”: a click goes to the running cell. */
function ProgressButton({ store }: { store: NotebookStore }) {
  const now = useNow(1_000, serverNow);
  const { done, total, since } = store.progress;
  const running = store.queue.find(([, run]) => run.status === "running") ?? store.queue[0];
  const cell = running?.[1].subject.kind === "cell" ? running[1].subject.cell_id : undefined;
  const words = total > 1 ? `${done} of ${total} runs done` : "1 run";
  return (
    <button
      className="button bare progress"
      title={`${words}. Click to go to the running cell`}
      disabled={cell === undefined || !store.document.cells.has(cell)}
      onClick={() => store.select(cell)}
    >
      {total > 1 && `${done} / ${total}`}
      <span className={total > 1 ? "more" : undefined}>
        {total > 1 && " · "}
        {clock(now - since)}
      </span>
    </button>
  );
}

/**
 * “1 failed · 5 skipped” after runs of which one failed, until the next run starts. Counts all cells that are red, also those of
 * earlier runs; each click goes to the next one, first to those of the last runs.
 */
function Failures({ store }: { store: NotebookStore }) {
  useTopics(store, "order");
  const [at, setAt] = useState(0);
  const { failures, skipped } = store.progress;
  const cells = failures.length > 0 ? failedCells(store.document, failures) : [];
  const next = cells[at % Math.max(1, cells.length)];
  if (next === undefined) return null;
  const failed = `${cells.length} failed`;
  const go = () => {
    setAt(at + 1);
    store.select(next);
    document.getElementById(`cell-${next}`)?.scrollIntoView({ block: "center" });
  };
  return (
    <button
      className="button bare failures"
      aria-label={skipped > 0 ? `${failed} · ${skipped} skipped` : failed}
      title={`Go to cell ${store.document.order.indexOf(next) + 1}, which failed`}
      onClick={go}
    >
      <CircleX size={15} aria-hidden />
      {cells.length} <span className="word">failed</span>
      {skipped > 0 && <span className="more">· {skipped} skipped</span>}
    </button>
  );
}

function Title({ store }: { store: NotebookStore }) {
  const { title, archived } = store.document;
  return (
    <h1 className="title">
      <TitleField store={store} title={title} readOnly={!store.mayEdit} />
      {archived && (
        <span className="tag" title="Read-only. Unarchive it in the list of notebooks to change it">
          Archived
        </span>
      )}
      <RoleTag store={store} />
      {store.replica.isReadOnly && (
        <span className="tag" title="A newer server wrote this notebook, or its record is damaged. Ask an administrator">
          Read-only
        </span>
      )}
    </h1>
  );
}

/** Separate from the bar, which renders with each event: React writes the attributes of an input whenever it renders, which costs a style pass. */
const TitleField = memo(function TitleField({
  store,
  title,
  readOnly,
}: {
  store: NotebookStore;
  title: string;
  readOnly: boolean;
}) {
  const [draft, setDraft] = useState<string>();
  const save = () => {
    if (draft !== undefined && draft !== title) void store.send({ RenameNotebook: { title: draft } });
    setDraft(undefined);
  };
  return (
    <input
      aria-label="Title"
      dir="auto"
      value={draft ?? title}
      placeholder="Untitled"
      readOnly={readOnly}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") setDraft(undefined);
      }}
    />
  );
});
