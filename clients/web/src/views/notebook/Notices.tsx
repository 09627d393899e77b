// Notices below the bar that need attention: no connection, expired session, unreachable kernel, pending input.
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { defaultKernel } from "../../app/state/kernels.ts";
import { useNow } from "../../app/session/clock.ts";
import { type Session, shareEndedWords } from "../../app/session/session.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { waitWords } from "../../app/words/machineWords.ts";
import { date, kernelEnd } from "../../app/words/words.ts";
import { page } from "../../commands/table.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import { useName } from "../../ui/Author.tsx";
import { part } from "../../ui/parts.ts";
import { useKernels } from "../panels/kernel/useKernels.ts";
import { useOwner } from "./useOwner.ts";

const SignInAgain = part(() => import("../account/SignInAgain.tsx"));

interface Props {
  store: NotebookStore;
  signedIn: (session: Session) => void;
}

export function Notices({ store, signedIn }: Props) {
  useTopics(store, "status", "kernels", "executions", "order");
  return (
    <div className="notices">
      <Refused store={store} signedIn={signedIn} />
      <Unconnected store={store} />
      <Updated store={store} />
      <Unreachable store={store} />
      <Waiting store={store} />
      <Gone store={store} />
      <Asking store={store} />
      <AtWork store={store} />
    </div>
  );
}

function Strip({ look, children }: { look: "warn" | "bad" | "plain"; children: ReactNode }) {
  return (
    <div className={`strip ${look}`} role={look === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** Changes at every key, so it is not announced. The bar has the countdown (ConnectionStatus.tsx). */
function Unsent({ store }: { store: NotebookStore }) {
  return <span aria-live="off">{unsentWords(store)}</span>;
}

function unsentWords(store: NotebookStore): string {
  const { unsent } = store;
  return unsent > 0 ? ` ${unsent} unsaved ${unsent === 1 ? "change is" : "changes are"} kept.` : "";
}

/** Expired session: a guest needs another link; the same user signs in again and continues; unsaved text stays. */
function Refused({ store, signedIn }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const { session } = store;
  const { state } = session.connection;
  const owner = useOwner(store);
  useEffect(() => {
    if (state.name !== "refused") setIsOpen(false);
  }, [state.name]);
  if (state.name !== "refused") return null;
  if (state.code === "unsupported_protocol")
    return (
      <Strip look="bad">
        <span className="grow">
          This page is out of date. Reload to continue.
          <Unsent store={store} />
        </span>
        <button className="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Strip>
    );
  if (session.me.actor.kind === "guest")
    return (
      <Strip look="bad">
        <span className="grow">
          This link no longer works. {shareEndedWords(owner)}
          <Unsent store={store} />
        </span>
      </Strip>
    );
  const again = (next: Session) => {
    if (next.userId !== undefined && next.userId === session.userId) session.renew(next);
    else signedIn(next);
  };
  return (
    <Strip look="bad">
      <span className="grow">
        You’re signed out.
        <Unsent store={store} />
      </span>
      <button className="button" onClick={() => setIsOpen(true)}>
        Sign in
      </button>
      {isOpen && (
        <Suspense>
          <SignInAgain signedIn={again} close={() => setIsOpen(false)} />
        </Suspense>
      )}
    </Strip>
  );
}

/** Disconnect notice, shown after five seconds. The bar shows a disconnect after one second; most are shorter. */
function Unconnected({ store }: { store: NotebookStore }) {
  const { connection } = store.session;
  const { state } = connection;
  const now = useNow(state.name === "live" ? undefined : 500);
  const isBlocked = useBlocked(store);
  if (isBlocked && state.name !== "live" && state.name !== "refused")
    return (
      <Strip look="bad">
        <span className="grow">
          Live connections (WebSockets) to the server are blocked, probably by a proxy. Use another network, or ask your
          administrator to pass on <code>Upgrade: websocket</code> for <code>/api/socket</code>.<Unsent store={store} />
        </span>
        <button className="button" onClick={() => connection.retryNow()}>
          Try now
        </button>
      </Strip>
    );
  if (state.name === "live" || state.name === "refused" || store.outage.since === undefined || now - store.outage.since < 5_000)
    return null;
  const reason = "reason" in state && state.reason ? `: ${state.reason}` : "";
  return (
    <Strip look="warn">
      <span className="grow">
        No connection{reason}. You can keep writing.
        <Unsent store={store} />
      </span>
      <button className="button" onClick={() => connection.retryNow()}>
        Try now
      </button>
    </Strip>
  );
}

const FAILED_ATTEMPTS = 3;

/** True if WebSockets are blocked: none has ever connected, but HTTP requests to the server succeed. */
function useBlocked(store: NotebookStore): boolean {
  const { connection, rest } = store.session;
  const { state } = connection;
  const attempt = "attempt" in state ? state.attempt : 0;
  const isSuspect = !connection.hasBeenLive && attempt > FAILED_ATTEMPTS;
  const [isBlocked, setIsBlocked] = useState(false);
  useEffect(() => {
    if (!isSuspect) return setIsBlocked(false);
    rest.send("/healthz").then(
      () => setIsBlocked(true),
      () => setIsBlocked(false),
    );
  }, [rest, isSuspect, attempt]);
  return isBlocked;
}

/** Reload notice after a server update, which brings a new page. */
function Updated({ store }: { store: NotebookStore }) {
  const [first, setFirst] = useState<string>();
  const [isMissing, setIsMissing] = useState(false);
  const server = store.session.connection.welcome?.server;
  useEffect(() => {
    if (server) setFirst((before) => before ?? server);
  }, [server]);
  useEffect(() => {
    const missing = () => setIsMissing(true);
    addEventListener("vite:preloadError", missing);
    return () => removeEventListener("vite:preloadError", missing);
  }, []);
  if (!isMissing && (!first || !server || first === server)) return null;
  return (
    <Strip look="plain">
      <span className="grow">The server was updated. Reload to use the new version; nothing is lost.</span>
      <button className="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Strip>
  );
}

function Unreachable({ store }: { store: NotebookStore }) {
  const [dismissed, setDismissed] = useState("");
  const lost = store.replica.kernels.filter(
    ({ kernel_session, reachable }) => !reachable && store.document.kernels.has(kernel_session),
  );
  const ids = lost.map(({ kernel_session }) => kernel_session);
  if (lost.length === 0 || dismissed === ids.join()) return null;
  const runs = store.queue.filter(([, run]) => run.status !== "queued" && ids.includes(run.kernel_session ?? ""));
  const giveUp = () => runs.forEach(([execution_id]) => void store.send({ GiveUpExecution: { execution_id } }));
  const elsewhere = async () => {
    const first = ids.find((id) => id === defaultKernel(store));
    const others = ids.filter((id) => id !== first).map((kernel_session) => ({ ShutDownKernel: { kernel_session } }));
    // Runs queued for the default kernel move to its replacement.
    const next = first === undefined ? { LaunchKernel: {} } : { RestartKernel: { kernel_session: first } };
    await store.send({ Batch: { commands: [...others, next] } });
  };
  const what = runs.length === 0 ? "" : runs.length === 1 ? " 1 run may still go on." : ` ${runs.length} runs may still go on.`;
  return (
    <Strip look="warn">
      <span className="grow">
        Kernel unreachable{lost[0]?.unreachable_since ? ` since ${date(lost[0].unreachable_since)}` : ""}.{what} Wait, or start a
        new kernel without its variables.
      </span>
      <button className="button" onClick={() => setDismissed(ids.join())}>
        Wait
      </button>
      {runs.length > 0 && (
        <button className="button" disabled={!store.mayRun} onClick={giveUp}>
          Give up {runs.length === 1 ? "run" : "runs"} and kernel
        </button>
      )}
      <button className="button" disabled={!store.mayRun} onClick={() => void elsewhere()}>
        Start new kernel
      </button>
    </Strip>
  );
}

/** Kernel that waits for a machine which is not there, while runs wait for it. */
function Waiting({ store }: { store: NotebookStore }) {
  const requested = [...store.document.kernels].filter(([, session]) => session.phase === "requested").map(([id]) => id);
  const { kernels } = store.document;
  // A queued run whose kernel has ended waits for the next one.
  const isFree = (kernel: string | null | undefined) => kernel == null || !kernels.has(kernel);
  const waits = (kernel: string | null | undefined) => isFree(kernel) || requested.includes(kernel ?? "");
  const isWanted = requested.length > 0 && store.queue.some(([, run]) => run.status === "queued" && waits(run.kernel_session));
  const known = useKernels(store, isWanted);
  const id = requested.find((one) => known?.waiting?.[one] !== undefined);
  const wait = id === undefined ? undefined : known?.waiting?.[id];
  // Without any agent the cells say so, and there is no machine to choose.
  if (!isWanted || id === undefined || !wait || wait.cause === "no_agent") return null;
  return (
    <Strip look="warn">
      <span className="grow">{waitWords(wait)} Runs wait for it.</span>
      <button
        className="button"
        disabled={!store.mayRun}
        onClick={() => void store.send({ RestartKernel: { kernel_session: id, labels: {} } })}
      >
        Use any machine
      </button>
      <button className="button" onClick={() => page.kernel?.()}>
        Choose a machine
      </button>
    </Strip>
  );
}

/** Lost kernel: its variables are gone, so cells must run again. */
function Gone({ store }: { store: NotebookStore }) {
  useTopics(store, "current");
  const [dismissed, setDismissed] = useState<number>();
  const { kernel_notice: gone, kernels, order, latest } = store.document;
  if (!gone || kernels.size > 0 || dismissed === gone.version) return null;
  const ran = (cell: string) => store.document.executions.get(latest.get(cell) ?? "")?.kernel_session === gone.kernel_session;
  if (!order.some(ran)) return null;
  const above = order.slice(0, order.indexOf(store.current ?? ""));
  const cells = above.length > 0 ? above : order;
  return (
    <Strip look="warn">
      <span className="grow">{kernelEnd(gone)}. Variables are lost; running a cell starts a new kernel.</span>
      <button className="button" disabled={!store.mayRun} onClick={() => void store.runs.start(cells)}>
        {above.length > 0 ? "Run all above" : "Run all"}
      </button>
      <button className="button" onClick={() => setDismissed(gone.version)}>
        Dismiss
      </button>
    </Strip>
  );
}

/** Notice that an assistant works or waits for approval while its panel is closed. */
function AtWork({ store }: { store: NotebookStore }) {
  useTopics(store, "assistants", "panel");
  const { waiting } = store;
  const [turn, known] = [...store.document.turns][0] ?? [];
  const name = useName(store, known?.requested_by);
  if (store.panel === "assistant" || (waiting.length === 0 && turn === undefined)) return null;
  const whose = name === "You" || name === "" ? "Your assistant" : `${name}’s assistant`;
  const count =
    waiting.length === 1
      ? "An assistant is waiting for approval."
      : `${waiting.length} assistant actions are waiting for approval.`;
  return (
    <Strip look={waiting.length > 0 ? "warn" : "plain"}>
      <span className="grow">{waiting.length > 0 ? count : `${whose} is working…`}</span>
      <button className="button" onClick={() => store.show("assistant")}>
        {waiting.length > 0 ? "Review" : "Show"}
      </button>
      {turn !== undefined && (
        <button className="button" disabled={!store.mayConverse} onClick={() => void store.send({ CancelTurn: { turn_id: turn } })}>
          Stop
        </button>
      )}
    </Strip>
  );
}

/** Notice of a run that waits for input, which may be outside the viewport. */
function Asking({ store }: { store: NotebookStore }) {
  const asking = store.queue.find(([, run]) => run.pending_input && !isFinished(run.status));
  const subject = asking?.[1].subject;
  const cell = subject?.kind === "cell" ? subject.cell_id : undefined;
  if (!asking || cell === undefined || !store.document.cells.has(cell)) return null;
  const jump = () => {
    store.select(cell);
    setTimeout(() => document.querySelector<HTMLInputElement>(`#cell-${CSS.escape(cell)} .input input`)?.focus());
  };
  return (
    <Strip look="plain">
      <span className="grow">
        Cell {store.document.order.indexOf(cell) + 1} is waiting for input:{" "}
        <span className="mono">{asking[1].pending_input?.prompt || "…"}</span>
      </span>
      <button className="button" onClick={jump}>
        Go to cell
      </button>
    </Strip>
  );
}
