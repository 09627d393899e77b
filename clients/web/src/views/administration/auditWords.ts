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
  "group.admin": ["Made NAME an administrator by a group", "Became an administrator by a group"],
  "group.admin_removed": ["Ended NAME’s administrator rights, which no group gives any more", "Ended own administrator rights"],
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
  "signing_key.begin": "Began to use a signing key",
};

/** Actions on things with a name, `THING`, which the server may not know any more. `MEMBER` is the account in `WORKSPACE/USER`. */
const ON_THINGS: { [action: string]: [named: string, nameless: string] } = {
  "token.create": ["Created the token “THING”", "Created a token"],
  "token.revoke": ["Revoked the token “THING”", "Revoked a token"],
  "agent.create": ["Created the agent’s token “THING”", "Created an agent’s token"],
  "share_link.create": ["Created the share link “THING”", "Created a share link"],
  "share_link.revoke": ["Revoked the share link “THING”", "Revoked a share link"],
  "workspace.create": ["Created the workspace “THING”", "Created a workspace"],
  "workspace.rename": ["Renamed the workspace “THING”", "Renamed a workspace"],
  "workspace.member": ["Set MEMBER’s role in the workspace “THING”", "Set MEMBER’s role in a workspace"],
  "workspace.member_removed": ["Removed MEMBER from the workspace “THING”", "Removed MEMBER from a workspace"],
  "group.member": ["Set MEMBER’s role by a group, in the workspace “THING”", "Set MEMBER’s role in a workspace by a group"],
  "group.member_removed": [
    "Removed MEMBER, whom no group names any more, from the workspace “THING”",
    "Removed MEMBER, whom no group names any more, from a workspace",
  ],
  "notebook.place": ["Moved a notebook to the workspace “THING”", "Moved a notebook to another workspace"],
};

/** Ids of the accounts that the sentence names. */
export function accountsOf({ action, subject, actor }: AuditEntry): string[] {
  const author = actor.startsWith("user:") ? [actor.slice("user:".length)] : [];
  if (wordOf(ON_THINGS, action)?.[1].includes("MEMBER")) return [...author, memberOf(subject)];
  return wordOf(ON_ACCOUNTS, action) ? [...author, accountOf(subject)] : author;
}

/** Id of the account in a subject such as `USER` or `USER/IDENTITY`. */
function accountOf(subject: string): string {
  return subject.split("/", 1)[0] ?? "";
}

/** Id of the account in a subject such as `WORKSPACE/USER`. */
function memberOf(subject: string): string {
  return subject.split("/", 2)[1] ?? "";
}

/** Example: “Deactivated Ann’s account”. An unknown action is shown in the server’s words. */
export function auditWords({ action, subject, actor, name }: AuditEntry, nameOf: NameOf): string {
  const onAccount = wordOf(ON_ACCOUNTS, action);
  if (onAccount) {
    const [of, own] = onAccount;
    const account = accountOf(subject);
    return actor === `user:${account}` ? own : of.replace("NAME", () => nameOf(account) ?? "…");
  }
  if (action === "notebook.place" && subject.endsWith("/nowhere")) return "Moved a notebook out of its workspace";
  const onThing = wordOf(ON_THINGS, action);
  if (onThing) {
    const [named, nameless] = onThing;
    const sentence = (name === undefined ? nameless : named).replace("MEMBER", () => nameOf(memberOf(subject)) ?? "…");
    return sentence.replace(/THING(?=”$)/, () => name ?? "");
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
