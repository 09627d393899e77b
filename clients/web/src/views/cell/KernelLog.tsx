// Log of an ended kernel process: the reason if the kernel did not start.
import { withoutLog } from "../../app/words/words.ts";

export function KernelLog({ detail }: { detail: string | null | undefined }) {
  const { log } = withoutLog(detail ?? "");
  if (log === undefined) return null;
  return (
    <details className="kernel-log small">
      <summary>Kernel log</summary>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre className="effect" tabIndex={0}>
        {log}
      </pre>
    </details>
  );
}
