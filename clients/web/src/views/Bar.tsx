// The top of a notebook: its title, how it is connected, its kernel, who is here, what one does most.
import { Menu } from "@base-ui/react/menu";
import { Bot, ChevronDown, Command, History, House, Play, Square } from "lucide-react";
import { useEffect, useState } from "react";
import { type Session, signIn } from "../app/session.ts";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { causeWords, hueOf, kindOf } from "../app/words.ts";
import { keyLabel, page } from "../commands/table.ts";
import type { KernelSession } from "../protocol/messages.ts";

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

/** Silent while all is well but for “Saved”: what is acknowledged is on the server's disk. */
function ConnectionStatus({ store, signedIn }: { store: NotebookStore; signedIn: (session: Session) => void }) {
  useTopics(store, "status");
  const { connection } = store.session;
  const { state } = connection;
  const now = useNow(state.name === "waiting" ? 500 : undefined);
  const unsent = Math.max(store.texts.cells().length, store.replica.unanswered);
  const kept = unsent > 0 ? ` · ${unsent} unsent ${unsent === 1 ? "change is" : "changes are"} kept` : "";
  if (state.name === "refused") return <SignInAgain message={state.message} signedIn={signedIn} />;
  if (state.name === "waiting") {
    return (
      <span className="connection bad" role="status" title={state.reason}>
        Not connected: trying again in {Math.max(0, Math.ceil((state.until - now) / 1_000))} s{kept}
        <button className="button" onClick={() => connection.retryNow()}>
          Now
        </button>
      </span>
    );
  }
  if (state.name !== "live" || store.replica.state.name !== "live")
    return (
      <span className="connection quiet" role="status">
        Connecting …{kept}
      </span>
    );
  return (
    <span className="connection quiet" role="status">
      {unsent > 0 ? "Saving …" : "Saved"}
    </span>
  );
}

function SignInAgain({ message, signedIn }: { message: string; signedIn: (session: Session) => void }) {
  const [error, setError] = useState(message);
  return (
    <form
      className="connection bad row"
      onSubmit={(event) => {
        event.preventDefault();
        const token = String(new FormData(event.currentTarget).get("token") ?? "");
        signIn(token).then(signedIn, (failure: Error) => setError(failure.message));
      }}
    >
      <span role="alert">Signed out: {error}</span>
      <input className="field short" name="token" type="password" placeholder="Token" aria-label="Token" required />
      <button className="button">Sign in</button>
    </form>
  );
}

export function useNow(every: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (every === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

function People({ store }: { store: NotebookStore }) {
  useTopics(store, "presence");
  const peers = [...store.replica.presence.peers.values()].filter(({ actor }) => actor.kind === "user" || actor.kind === "guest");
  if (peers.length === 0) return null;
  return (
    <ul className="people" aria-label="Who is here">
      {peers.map(({ connection, name, actor, state }) => {
        const label = name || kindOf(actor);
        const where = state?.cell_id;
        return (
          <li key={connection}>
            <button
              className={`avatar peer-hue-${hueOf(label)}`}
              title={where ? `${label}: go there` : label}
              aria-label={`${label} is here`}
              disabled={!where}
              onClick={() => where && store.select(where)}
            >
              {[...label][0]?.toUpperCase()}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function kernelWords(session: KernelSession, status: { reachable: boolean; busy: boolean } | undefined): [string, string] {
  if (session.phase === "requested") return ["wait", "waits for a runtime agent"];
  if (session.phase === "claimed") return ["wait", "is starting"];
  if (session.phase === "ending") return ["wait", "is ending"];
  if (status && !status.reachable) return ["bad", "cannot be reached"];
  return status?.busy ? ["busy", "is busy"] : ["idle", "is idle"];
}

function Kernel({ store }: { store: NotebookStore }) {
  useTopics(store, "kernels", "executions");
  const { kernels, kernel_notice } = store.document;
  const entry = [...kernels].sort(([, a], [, b]) => a.requested_version - b.requested_version)[0];
  const status = store.replica.kernels.find((each) => each.kernel_session === entry?.[0]);
  const busy = status && { reachable: status.reachable ?? true, busy: status.busy ?? false };
  const [look, words] = entry
    ? kernelWords(entry[1], busy)
    : ["none", kernel_notice ? `ended: ${causeWords(kernel_notice.cause, kernel_notice.detail)}` : "not started"];
  const name = entry?.[1].kernelspec ?? "Kernel";
  return (
    <Menu.Root>
      <Menu.Trigger className="button bare kernel" title={`${name} ${words}`}>
        <span className={`dot ${look}`} aria-hidden /> <span>{name}</span> <span className="quiet small wide">{words}</span>{" "}
        <ChevronDown size={14} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} className="above">
          <Menu.Popup className="menu">
            <Menu.Item className="item" disabled={!store.mayRun || !!entry} onClick={() => void store.do({ LaunchKernel: {} })}>
              Start
            </Menu.Item>
            <Menu.Item className="item" disabled={!store.mayRun || !entry} onClick={() => store.interrupt()}>
              Interrupt <kbd>I, I</kbd>
            </Menu.Item>
            <Menu.Item className="item" disabled={!store.mayRun || !entry} onClick={() => store.restart()}>
              Restart <kbd>0, 0</kbd>
            </Menu.Item>
            <Menu.Item
              className="item"
              disabled={!store.mayRun || !entry}
              onClick={() => entry && void store.do({ ShutDownKernel: { kernel_session: entry[0] } })}
            >
              Shut down
            </Menu.Item>
            {kernel_notice && (
              <p className="note small">The last kernel ended: {causeWords(kernel_notice.cause, kernel_notice.detail)}.</p>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
