// Rights of the roles, as far as the page shows or hides controls by them (src/core/authority.rs decides).
import type { Role } from "../../protocol/messages.ts";
import { wordOf } from "../words/words.ts";

export type Right = "converse" | "run" | "edit" | "organise" | "redact";

const RIGHTS = {
  viewer: [],
  commenter: ["converse"],
  runner: ["converse", "run"],
  author: ["converse", "edit"],
  editor: ["converse", "run", "edit", "organise"],
  owner: ["converse", "run", "edit", "organise", "redact"],
  agent: [],
} satisfies Record<Role, Right[]>;

/** Parts of the notices of a missing right: what the person may do here, and what was tried. */
const MAY: Partial<Record<Role, string>> = {
  viewer: "View only",
  commenter: "Comment only",
  runner: "Run only",
  author: "Edit only",
};
const TRIED = { edit: "edit this notebook", run: "run this notebook", converse: "comment on this notebook" };

export type Tried = keyof typeof TRIED;

/** Example: “Run only: you can’t edit this notebook.” Undefined if the role has the right, or is not known yet. */
export function missingWords(role: Role | undefined, tried: Tried): string | undefined {
  const may = wordOf<string>(MAY as Record<string, string>, role);
  return may === undefined || hasRight(role, tried) ? undefined : `${may}: you can’t ${TRIED[tried]}.`;
}

/** True if the role has the right; false for a role of a later version. */
export function hasRight(role: Role | undefined, right: Right): boolean {
  const rights: readonly Right[] | undefined = wordOf<Right[]>(RIGHTS, role);
  return rights?.includes(right) ?? false;
}
