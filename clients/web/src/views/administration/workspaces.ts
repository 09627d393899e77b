// Names of workspaces: the administrator's own, and those in which assistants were used this month.
import type { ModelUsageAnswer, Workspace } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";

/** Names by id; other workspaces have none, because the server lists them to their members alone. */
export async function workspaceNames(rest: Rest): Promise<Map<string, string>> {
  const [own, used] = await Promise.all([
    rest.get<Workspace[]>("/api/workspaces").catch(() => []),
    rest.get<ModelUsageAnswer>("/api/spending?by=workspace&all=true").catch(() => ({ rows: [] })),
  ]);
  return new Map([
    ...used.rows.flatMap(({ value, name }) => (name == null ? [] : [[value, name] as const])),
    ...own.map(({ id, name }) => [id, name] as const),
  ]);
}

/** Name of a workspace; a workspace without a known name is told from others by the end of its id. */
export function workspaceName(names: ReadonlyMap<string, string>, id: string): string {
  return names.get(id) ?? `Workspace …${id.slice(-4)}`;
}
