// Who is here.
import { type NotebookStore, useTopics } from "../app/store.ts";
import { hueOf, kindOf } from "../app/words.ts";

export function People({ store }: { store: NotebookStore }) {
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
