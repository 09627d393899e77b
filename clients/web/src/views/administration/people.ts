// Accounts of the server: loading all of them, search, and names by id.
import type { User } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";

/** Accounts of one request, and the number above which the page stops asking. */
const PAGE_USERS = 1_000;
const MOST_USERS = 50_000;

/** Loads all accounts, ordered by name. */
export async function allUsers(rest: Rest): Promise<User[]> {
  const users: User[] = [];
  for (let page = PAGE_USERS; page === PAGE_USERS && users.length < MOST_USERS;) {
    const last = users.at(-1)?.id;
    const more = await rest.get<User[]>(`/api/users?limit=${PAGE_USERS}${last ? `&after=${last}` : ""}`);
    users.push(...more);
    page = more.length;
  }
  return byName(users);
}

const collator = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });

export function byName(users: readonly User[]): User[] {
  return [...users].sort((one, other) => collator.compare(one.name, other.name) || (one.id < other.id ? -1 : 1));
}

/** Names of the filter above the table. */
export const KINDS = {
  active: "Active",
  administrators: "Administrators",
  invited: "Without a password",
  deactivated: "Deactivated",
  all: "Everyone",
} as const;

export type Kind = keyof typeof KINDS;

const IS_OF: Record<Kind, (user: User) => boolean> = {
  active: ({ deactivated_at }) => deactivated_at == null,
  administrators: ({ is_admin }) => is_admin,
  invited: ({ has_password, deactivated_at }) => !has_password && deactivated_at == null,
  deactivated: ({ deactivated_at }) => deactivated_at != null,
  all: () => true,
};

/** Accounts of a kind whose name or login has each word of the text. */
export function found(users: readonly User[], text: string, kind: Kind): User[] {
  const words = folded(text).split(/\s+/).filter(Boolean);
  return users.filter((user) => {
    const content = folded(`${user.name} ${user.login ?? ""}`);
    return IS_OF[kind](user) && words.every((word) => content.includes(word));
  });
}

/** Lower case without accents. */
function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}

/** Name behind an id; undefined while the accounts load. */
export type NameOf = (id: string) => string | undefined;

export function nameOf(users: readonly User[] | undefined): NameOf {
  const names = new Map(users?.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? (users && "Unknown account");
}

/** Link with which a person enters a one-time token; the fragment is not sent to a server. */
export function oneTimeLink(token: string): string {
  return `${location.origin}/#token=${token}`;
}
