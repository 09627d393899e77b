// Rights of the roles, as far as the page shows or hides controls by them (src/core/authority.rs decides).
import type { Role } from "../../protocol/messages.ts";
import { wordOf } from "../words/words.ts";

export type Right = "converse" | "run" | "edit" | "organise";

const RIGHTS = {
  viewer: [],
  commenter: ["converse"],
  runner: ["converse", "run"],
  author: ["converse", "edit"],
  editor: ["converse", "run", "edit", "organise"],
  owner: ["converse", "run", "edit", "organise"],
  agent: [],
} satisfies Record<Role, Right[]>;

/** True if the role has the right; false for a role of a later version. */
export function hasRight(role: Role | undefined, right: Right): boolean {
  const rights: readonly Right[] | undefined = wordOf<Right[]>(RIGHTS, role);
  return rights?.includes(right) ?? false;
}
