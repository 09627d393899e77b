// Whether the server is there, and what it has of what was done here. A longer loss is a notice (Notices.tsx).
import { useNow } from "../app/now.ts";
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";

/** Shorter losses are not shown. */
const SILENT_MS = 1_000;

export function ConnectionStatus({ store }: { store: NotebookStore }) {
  useTopics(store, "status");
  const { state } = store.session.connection;
  const isLive = state.name === "live" && store.replica.state.name === "live";
  const now = useNow(isLive ? undefined : 250);
  const { unsent } = store;
  const isSilent = store.lostAt === undefined || now - store.lostAt < SILENT_MS;
  if (isLive || (isSilent && store.document.version > 0))
    return (
      <span className="connection quiet" role="status" title={unsent > 0 ? undefined : "All changes saved"}>
        {unsent > 0 ? "Saving…" : "Saved"}
      </span>
    );
  const kept = unsent > 0 ? ` · ${unsent} unsaved ${unsent === 1 ? "change" : "changes"}` : "";
  const words = {
    waiting: `Offline · retrying in ${state.name === "waiting" ? Math.max(0, Math.ceil((state.until - now) / 1_000)) : 0} s`,
    refused: state.name === "refused" && state.code === "unsupported_protocol" ? "Reload needed" : "Signed out",
  }[state.name as string];
  return (
    <span
      className={words ? "connection bad" : "connection quiet"}
      role="status"
      title={"reason" in state ? state.reason : undefined}
    >
      {words ?? "Connecting…"}
      {kept}
    </span>
  );
}
