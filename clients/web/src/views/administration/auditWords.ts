// Sentences for entries of the audit of accounts.
import { plain, wordOf } from "../../app/words/words.ts";
import type { AuditEntry } from "../../protocol/rest.ts";
import { PERIODS, SPENDERS, amountWords } from "./capWords.ts";
import type { NameOf } from "./people.ts";

/** Actions on an account; `NAME` is the account's name, and without another person the author's own. */
const ON_ACCOUNTS: { [action: string]: [of: string, own: string] } = {
  "user.create": ["Created NAME’s account", "Created the account"],
  "user.join": ["Created NAME’s account at the first sign-in", "Got an account at the first sign-in"],
  "user.profile": ["Changed NAME’s name or login", "Changed name or login"],
  "user.password": ["Set NAME’s password", "Set a password"],
  "user.reset": ["Created a password link for NAME", "Created a password link"],
  "user.owner_token": ["Created the first token for NAME", "Created the first token"],
  "user.admin": ["Changed NAME’s administrator rights", "Changed own administrator rights"],
  "user.deactivate": ["Deactivated NAME’s account", "Deactivated the account"],
  "user.reactivate": ["Reactivated NAME’s account", "Reactivated the account"],
  "identity.link": ["Linked a sign-in to NAME’s account", "Linked a sign-in"],
  "identity.unlink": ["Unlinked a sign-in of NAME", "Unlinked a sign-in"],
};

/** Actions on things of which the audit has only the id. */
const OTHERS: { [action: string]: string } = {
  "session.sign_in": "Signed in with a password",
  "session.sign_in_afresh": "Entered the password again",
  "session.oidc": "Signed in with a provider",
  "session.oidc_afresh": "Signed in with a provider again",
  "session.exchange": "Signed in with a one-time link",
  "session.browser": "Opened a session in a browser",
  "session.link": "Created a link for a browser",
  "session.sign_out": "Signed out",
  "token.create": "Created a token",
  "token.revoke": "Revoked a token",
  "agent.create": "Created an agent’s token",
  "share_link.create": "Created a share link",
  "share_link.revoke": "Revoked a share link",
  "workspace.create": "Created a workspace",
  "workspace.rename": "Renamed a workspace",
  "workspace.member": "Set a member’s role in a workspace",
  "workspace.member_removed": "Removed a member of a workspace",
  "notebook.place": "Moved a notebook to another workspace",
  "signing_key.begin": "Began to use a signing key",
};

/** Ids of the accounts that the sentence names. */
export function accountsOf({ action, subject, actor }: AuditEntry): string[] {
  const author = actor.startsWith("user:") ? [actor.slice("user:".length)] : [];
  return wordOf(ON_ACCOUNTS, action) ? [...author, accountOf(subject)] : author;
}

/** Id of the account in a subject such as `USER` or `USER/IDENTITY`. */
function accountOf(subject: string): string {
  return subject.split("/", 1)[0] ?? "";
}

/** Example: “Deactivated Ann’s account”. An unknown action is shown in the server’s words. */
export function auditWords({ action, subject, actor }: AuditEntry, nameOf: NameOf): string {
  const onAccount = wordOf(ON_ACCOUNTS, action);
  if (onAccount) {
    const [of, own] = onAccount;
    const account = accountOf(subject);
    return actor === `user:${account}` ? own : of.replace("NAME", () => nameOf(account) ?? "…");
  }
  if (action === "cap.set") return `Set the cap ${capWords(subject, nameOf)}`;
  if (action === "cap.remove") return `Removed the cap ${capWords(subject, nameOf)}`;
  return wordOf(OTHERS, action) ?? plain(action.replaceAll(".", " "));
}

/** Words for a cap as the audit names it: `each_person day USD 5.00`, `person ID month tokens`. */
function capWords(subject: string, nameOf: NameOf): string {
  const parts = subject.split(" ");
  const [kind = ""] = parts;
  const id = kind === "person" || kind === "workspace" ? parts[1] : undefined;
  const [period = "", unit = "", amount] = parts.slice(id === undefined ? 1 : 2);
  const spender = kind === "person" && id ? nameOf(id) : wordOf(SPENDERS, kind)?.toLowerCase();
  const periodWords = wordOf(PERIODS, period);
  if (spender === undefined || periodWords === undefined) return `“${subject}”`;
  const limit = amount === undefined ? unit : amountWords(amount, unit);
  return `for ${spender}: ${limit} ${periodWords}`;
}

/** Name of the author of an entry. */
export function actorWords(actor: string, nameOf: NameOf): string {
  const [kind = "", id = ""] = actor.split(":");
  if (kind === "user") return nameOf(id) ?? "…";
  return { system: "The server", agent: "A runtime agent", guest: "A guest", assistant: "An assistant" }[kind] ?? plain(kind);
}
