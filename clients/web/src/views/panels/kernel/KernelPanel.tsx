// Details and actions of a notebook's kernels. Lazy: loads when it opens.
import { Popover } from "@base-ui/react/popover";
import { Braces, FolderOpen, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { statusOf } from "../../../app/state/kernels.ts";
import { kernelEffectWords } from "../../../app/words/effectWords.ts";
import { waitWords } from "../../../app/words/machineWords.ts";
import { sizeWords } from "../../../app/words/sizes.ts";
import { serverNow, useNow } from "../../../app/session/clock.ts";
import { Boundary } from "../../../ui/Broken.tsx";
import type { NotebookStore } from "../../../app/state/store.ts";
import { clock, kernelEnd, kernelName, plain } from "../../../app/words/words.ts";
import { page } from "../../../commands/table.ts";
import type { KernelSession } from "../../../protocol/messages.ts";
import type { Kernels, LaunchWait } from "../../../protocol/rest.ts";
import { ReactivityChoice } from "../../cell/Graph.tsx";
import { asksInput, kernelWords } from "./Kernel.tsx";
import { KernelSettingsChoice, Machines } from "./Machines.tsx";
import { useKernels } from "./useKernels.ts";
import { KernelLog } from "../../cell/Ended.tsx";

interface Props {
  store: NotebookStore;
  trigger: { className: string; title: string; children: ReactNode };
  isOpen: boolean;
  opened: (isOpen: boolean) => void;
}

export default function KernelPanel({ store, trigger, isOpen, opened }: Props) {
  const { kernels, kernel_notice } = store.document;
  const known = useKernels(store, isOpen);
  const all = [...kernels].sort(([, a], [, b]) => a.requested_version - b.requested_version);
  return (
    <Popover.Root open={isOpen} onOpenChange={opened}>
      <Popover.Trigger {...trigger} />
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" className="above">
          <Popover.Popup className="menu kernel-panel">
            <Boundary what="The kernel panel">
              <Popover.Title className="hidden">Kernel</Popover.Title>
              {all.map(([id, session]) => (
                <Session key={id} store={store} id={id} session={session} wait={known?.waiting?.[id]} />
              ))}
              {kernel_notice && (
                <div className="note small bad">
                  <p>{kernelEnd(kernel_notice)}. Variables are lost; running a cell starts a new kernel.</p>
                  <KernelLog detail={kernel_notice.detail} />
                </div>
              )}
              <Offered store={store} isNone={all.length === 0} offered={known?.kernelspecs} />
              <Machines store={store} known={known} />
              <KernelSettingsChoice store={store} />
              <ReactivityChoice store={store} />
              {store.mayRun && store.document.functions.size > 0 && (
                <Popover.Close className="button bare files-way" onClick={() => page.functions?.()}>
                  <Wrench size={15} aria-hidden /> Call a function
                </Popover.Close>
              )}
              {store.mayRun && (
                <Popover.Close
                  className="button bare files-way"
                  onClick={() => store.panel !== "variables" && store.show("variables")}
                >
                  <Braces size={15} aria-hidden /> Variables
                </Popover.Close>
              )}
              {store.mayRun && (
                <Popover.Close className="button bare files-way" onClick={() => page.files?.()}>
                  <FolderOpen size={15} aria-hidden /> Files
                </Popover.Close>
              )}
            </Boundary>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

const SANDBOX_KINDS: Record<string, string> = { full: "Full", namespaces: "Namespaces", landlock: "Landlock only" };

/** Describes the sandbox that was recorded when the kernel started. */
function sandboxWords(recorded: unknown): string {
  const { kind, file_system, processes, sockets, network, by, open } = (recorded ?? {}) as {
    kind?: string;
    file_system?: boolean;
    processes?: boolean;
    sockets?: boolean;
    network?: string;
    by?: unknown;
    open?: unknown;
  };
  if (file_system === undefined) return "None: code can do everything the runtime agent’s account can";
  const named = kind === undefined ? "" : `${SANDBOX_KINDS[kind] ?? plain(kind)}: `;
  const reach = network === undefined || network === "all" ? "" : `, network: ${plain(network)}`;
  const means = Array.isArray(by) && by.length > 0 ? ` (${by.map(plain).join(", ")})` : "";
  const isWhole = file_system && processes && sockets !== false;
  const left = !isWhole && Array.isArray(open) && open.length > 0 ? `, reachable: ${open.map(plain).join(", ")}` : "";
  return `${named}${isWhole ? "keys and processes are protected" : "partial"}${means}${reach}${left}`;
}

interface SessionProps {
  store: NotebookStore;
  id: string;
  session: KernelSession;
  /** The reason for which it waits for a machine. */
  wait: LaunchWait | undefined;
}

function Session({ store, id, session, wait }: SessionProps) {
  const status = statusOf(store, id);
  const [look, words] = kernelWords(session, status, asksInput(store, id));
  const { kernels } = store.document;
  const isIts = (kernel: string | null | undefined) => kernel == null || kernel === id || !kernels.has(kernel);
  const runs = store.queue.filter(([, run]) => isIts(run.kernel_session));
  const running = runs.find(([, run]) => run.status === "running")?.[1];
  const now = useNow(running ? 1_000 : undefined, serverNow);
  const info = session.language_info as { name?: string; version?: string } | undefined;
  const functions = [...store.document.functions.values()].filter(({ kernel_session }) => kernel_session === id);
  const agent = status?.agent_name ?? (session.agent && `agent ${session.agent.slice(-6)}`);
  const isStarted = session.phase === "started";
  const rows: [string, string | undefined][] = [
    ["Language", info?.name && `${plain(info.name)} ${info.version ?? ""}`],
    ["Runs on", agent ?? undefined],
    ["Memory", status?.usage ? sizeWords(status.usage.memory_bytes) : undefined],
    ["Processor", status?.usage?.cpu_percent != null ? `${status.usage.cpu_percent} % of one core` : undefined],
    ["Sandbox", isStarted ? sandboxWords(session.sandbox) : undefined],
    ["Assistants’ code", isStarted ? kernelEffectWords(session.sandbox) : undefined],
    ["Running for", running && clock(now - (running.started_at ?? now))],
    ["Queued", runs.length > 1 ? `${runs.length - (running ? 1 : 0)} runs` : undefined],
    ["Tools", functions.length > 0 ? functions.map((each) => each.function.name).join(", ") : undefined],
  ];
  return (
    <section className="stack tight" aria-label={`Kernel ${kernelName(session.kernelspec)}`}>
      <p className="row">
        <span className={`dot ${look}`} aria-hidden />
        <strong>{kernelName(session.kernelspec)}</strong> <span className="quiet">{words}</span>
      </p>
      <dl className="facts small">
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt className="quiet">{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {wait && session.phase === "requested" && <p className="note small">{waitWords(wait)} Runs wait for it.</p>}
      {status && !status.reachable && (
        <p className="small bad">
          The runtime agent doesn’t respond. Runs there may still go on; they count as lost if it doesn’t come back.
        </p>
      )}
      <div className="row">
        <button
          className="button"
          disabled={!store.mayRun || !isStarted}
          onClick={() => void store.send({ InterruptKernel: { kernel_session: id } })}
        >
          Interrupt
        </button>
        <button className="button" disabled={!store.mayRun || !isStarted} onClick={() => void store.runs.restart([id])}>
          Restart
        </button>
        <button className="button" disabled={!store.mayRun || !isStarted} onClick={() => void store.runs.restartAndRun([id])}>
          Restart and run all
        </button>
        <button
          className="button danger"
          disabled={!store.mayRun || session.phase === "ending"}
          onClick={() => void store.runs.shutDown(id)}
        >
          Shut down
        </button>
      </div>
    </section>
  );
}

interface OfferedProps {
  store: NotebookStore;
  isNone: boolean;
  offered: Kernels["kernelspecs"] | undefined;
}

function Offered({ store, isNone, offered }: OfferedProps) {
  const start = (kernelspec: string | null) => void store.send({ LaunchKernel: { kernelspec } });
  if (offered?.length === 0 && isNone)
    return (
      <p className="note small" role="status">
        No kernel is connected yet. A server started with <code>notarium up</code> first prepares its Python, which takes about a
        minute. On other servers an administrator starts kernels with <code>notarium agent</code>.
      </p>
    );
  if (!isNone && (offered?.length ?? 0) < 2) return null;
  return (
    <div className="stack tight">
      <p className="quiet small">{isNone ? "Start a kernel" : "Start another kernel"}</p>
      <div className="row">
        {offered?.map(({ name, display_name }) => (
          <button key={name} className="button" disabled={!store.mayRun} onClick={() => start(name)}>
            {display_name || name}
          </button>
        ))}
      </div>
    </div>
  );
}
