// Servers that share this database: address, state, version and open notebooks.
import type { Session } from "../../app/session/session.ts";
import { ago } from "../../app/words/words.ts";
import type { NodeStatus, Nodes as NodeList } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { type Loaded, Section, useFollowed } from "./loading.tsx";
import { countWords } from "./words.ts";

export async function loadNodes(rest: Rest): Promise<NodeStatus[]> {
  return (await rest.get<NodeList>("/api/nodes")).nodes;
}

export function Nodes({ session, nodes }: { session: Session; nodes: Loaded<NodeStatus[]> }) {
  useFollowed(session, nodes.reload);
  if (nodes.isMissing)
    return (
      <section aria-label="Nodes">
        <p className="quiet nothing">This server doesn’t list its nodes.</p>
      </section>
    );
  const { value = [] } = nodes;
  return (
    <Section title="Nodes" about={aboutWords(value)} loaded={nodes} empty={nodes.value?.length === 0 ? "No nodes." : undefined}>
      <table className="accounts-table">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col" className="wide">
              Version
            </th>
            <th scope="col" className="number wide">
              Level
            </th>
            <th scope="col" className="number">
              Open notebooks
            </th>
          </tr>
        </thead>
        <tbody>
          {value.map((node) => (
            <Row key={node.node} node={node} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Row({ node: { node, url, seen_at, is_alive, is_draining, version, level, is_this, rooms } }: { node: NodeStatus }) {
  return (
    <tr>
      <th scope="row">
        <span className="words" title={node}>
          <span>{url || (is_this ? location.origin : node)}</span>
          <span className="quiet small narrow">{version ? `Version ${version}` : ""}</span>
          {is_this && <span className="quiet small">This server</span>}
        </span>
      </th>
      <td>
        <span className="words">
          <span>{stateOf({ is_alive, is_draining })}</span>
          {seen_at != null && <span className="quiet small">Seen {ago(seen_at)}</span>}
        </span>
      </td>
      <td className="wide">{version ?? "–"}</td>
      <td className="number wide">{level ?? "–"}</td>
      <td className="number">{rooms == null ? "–" : rooms.toLocaleString()}</td>
    </tr>
  );
}

function stateOf({ is_alive, is_draining }: Pick<NodeStatus, "is_alive" | "is_draining">) {
  if (is_alive === false) return <span className="tag ended">Not responding</span>;
  return is_draining ? <span className="tag">Draining</span> : "Active";
}

/** Warns while living nodes differ in version, as during an upgrade. */
export function aboutWords(listed: readonly NodeStatus[]): string {
  const nodes = listed.filter(({ is_alive }) => is_alive !== false);
  const versions = new Set(nodes.flatMap(({ version }) => version ?? []));
  if (nodes.length === 0) return "Servers that share this database.";
  if (nodes.length === 1) return "One server.";
  const mixed = versions.size > 1 ? ` They run ${versions.size} versions: finish the upgrade.` : "";
  return `${countWords(nodes.length, "server")} share this database.${mixed}`;
}
