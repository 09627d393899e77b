// What the process of a kernel wrote before it ended: the reason, where a kernel did not start.
import { withoutLog } from "../app/words.ts";

export function KernelLog({ detail }: { detail: string | null | undefined }) {
  const { log } = withoutLog(detail ?? "");
  if (log === undefined) return null;
  return (
    <details className="kernel-log small">
      <summary>Kernel log</summary>
      {/* Long: whoever goes through the page by keys must be able to scroll it. */}
      <pre className="effect" tabIndex={0}>
        {log}
      </pre>
    </details>
  );
}
