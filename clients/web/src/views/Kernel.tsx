// The kernel: how it is, and what can be done with it.
import { Menu } from "@base-ui/react/menu";
import { ChevronDown } from "lucide-react";
import { type NotebookStore, useTopics } from "../app/store.ts";
import { causeWords } from "../app/words.ts";
import type { KernelSession } from "../protocol/messages.ts";

function kernelWords(session: KernelSession, status: { reachable: boolean; busy: boolean } | undefined): [string, string] {
  if (session.phase === "requested") return ["wait", "waits for a runtime agent"];
  if (session.phase === "claimed") return ["wait", "is starting"];
  if (session.phase === "ending") return ["wait", "is ending"];
  if (status && !status.reachable) return ["bad", "cannot be reached"];
  return status?.busy ? ["busy", "is busy"] : ["idle", "is idle"];
}

export function Kernel({ store }: { store: NotebookStore }) {
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
