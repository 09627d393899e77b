// Kernel status in the bar; a click opens the kernel panel.
import { ChevronDown, Workflow } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { statusOf } from "../../../app/state/kernels.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { kernelEnd, kernelName } from "../../../app/words/words.ts";
import { page } from "../../../commands/table.ts";
import type { KernelSession } from "../../../protocol/messages.ts";
import { part } from "../../../ui/parts.ts";
import { modeName } from "../../cell/Graph.tsx";

export function kernelWords(
  session: KernelSession,
  status: { reachable: boolean; busy: boolean } | undefined,
  asks = false,
): [string, string] {
  if (session.phase === "requested") return ["wait", "Waiting for a runtime agent"];
  if (session.phase === "claimed") return ["wait", "Starting"];
  if (session.phase === "ending") return ["wait", "Stopping"];
  if (status && !status.reachable) return ["bad", "Unreachable"];
  if (asks) return ["wait", "Waiting for input"];
  return status?.busy ? ["busy", "Busy"] : ["idle", "Idle"];
}

const loadPanel = () => import("./KernelPanel.tsx");
const KernelPanel = part(loadPanel);

export function Kernel({ store }: { store: NotebookStore }) {
  useTopics(store, "kernels", "executions", "notebook");
  const [isOpen, setIsOpen] = useState<boolean>();
  useEffect(() => {
    page.kernel = () => setIsOpen(true);
    return () => void delete page.kernel;
  }, []);
  const { kernels, kernel_notice, reactivity } = store.document;
  const reactive = reactivity === "off" ? undefined : `Reactive: ${modeName(reactivity).toLowerCase()}`;
  const first = [...kernels].sort(([, a], [, b]) => a.requested_version - b.requested_version)[0];
  const [look, words] = first
    ? kernelWords(first[1], statusOf(store, first[0]), asksInput(store, first[0]))
    : ["none", kernel_notice ? kernelEnd(kernel_notice) : "Not started"];
  const name = first ? kernelName(first[1].kernelspec) : "Kernel";
  const trigger = {
    className: "button bare kernel",
    title: [`${name} · ${words}`, reactive].filter(Boolean).join(". "),
    children: (
      <>
        <span className={`dot ${kernel_notice && !first ? "bad" : look}`} aria-hidden /> <span>{name}</span>{" "}
        <span className="quiet small wide words">{words}</span>{" "}
        {reactive && <Workflow size={14} role="img" aria-label={reactive} />} <ChevronDown size={14} aria-hidden />
      </>
    ),
  };
  const button = (
    <button {...trigger} aria-haspopup="dialog" onPointerEnter={() => void loadPanel()} onClick={() => setIsOpen(true)} />
  );
  if (isOpen === undefined) return button;
  return (
    <Suspense fallback={button}>
      <KernelPanel store={store} trigger={trigger} isOpen={isOpen} opened={setIsOpen} />
    </Suspense>
  );
}

/** True if a run of the kernel waits for input. */
export function asksInput(store: NotebookStore, kernel: string): boolean {
  return store.queue.some(([, run]) => run.pending_input && run.kernel_session === kernel);
}
