// Connection and save state in the bar. A longer disconnect gets a notice (Notices.tsx).
import { useEffect, useState } from "react";
import { useNow } from "../../app/session/clock.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";

/** A shorter disconnect is not shown. */
const SILENT_MS = 1_000;
/** Time without a confirmation, after which the server counts as silent, even if the socket is open. */
const ANSWER_MS = 1_500;

export function ConnectionStatus({ store }: { store: NotebookStore }) {
  useTopics(store, "status");
  return (
    <>
      <Words store={store} />
      <Told store={store} />
    </>
  );
}

/** Live region for screen readers: announces disconnects and reconnects, not single saves or the countdown. */
function Told({ store }: { store: NotebookStore }) {
  const { state } = store.session.connection;
  const isLive = state.name === "live" && store.replica.state.name === "live";
  const [words, setWords] = useState("");
  useEffect(() => {
    if (isLive) return setWords((before) => (before === "" ? "" : "Connected again"));
    const isOut = state.name === "refused";
    const timer = setTimeout(() => setWords(isOut ? "Signed out" : "Offline. You can keep writing."), SILENT_MS);
    return () => clearTimeout(timer);
  }, [isLive, state.name === "refused"]);
  return (
    <span className="hidden" role="status">
      {words}
    </span>
  );
}

function Words({ store }: { store: NotebookStore }) {
  const { state } = store.session.connection;
  const isLive = state.name === "live" && store.replica.state.name === "live";
  const { unsent } = store;
  const now = useNow(isLive && unsent === 0 ? undefined : 250);
  const { askedAt } = store.replica;
  if (isLive && askedAt !== undefined && now - askedAt > ANSWER_MS)
    return (
      <span className="connection bad" title="Changes are kept here until the server confirms them">
        No answer from the server · {changeWords(unsent)}
      </span>
    );
  const isSilent = store.outage.since === undefined || now - store.outage.since < SILENT_MS;
  if (isLive || (isSilent && store.document.version > 0))
    return (
      <span className="connection quiet" title={unsent > 0 ? undefined : "All changes saved"}>
        {unsent > 0 ? "Saving…" : "Saved"}
      </span>
    );
  const retry = state.name === "waiting" ? ` · retrying in ${Math.max(0, Math.ceil((state.until - now) / 1_000))} s` : "";
  const kept = unsent > 0 ? ` · ${changeWords(unsent)}` : "";
  const words = {
    waiting: "Offline",
    refused: state.name === "refused" && state.code === "unsupported_protocol" ? "Reload needed" : "Signed out",
  }[state.name as string];
  return (
    <span className={words ? "connection bad" : "connection quiet"} title={"reason" in state ? state.reason : undefined}>
      {words ?? "Connecting…"}
      <span className="more">
        {retry}
        {kept}
      </span>
    </span>
  );
}

const changeWords = (count: number) => `${count} unsaved ${count === 1 ? "change" : "changes"}`;
