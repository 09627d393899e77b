// Dialogs of one account: questions before its role or state changes, a link for a new password, linked sign-ins.
import { serverNow } from "../../app/session/clock.ts";
import type { Session } from "../../app/session/session.ts";
import type { User } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { PasswordLink } from "./PasswordLink.tsx";
import { Question } from "./Question.tsx";
import { SignInsOf } from "./SignInsOf.tsx";

export interface Asked {
  what: "reset" | "sign-ins" | keyof typeof CHANGES;
  user: User;
}

interface Props {
  session: Session;
  asked: Asked;
  /** Takes the changed account, and a sentence about the change. */
  changed: (user: User, words: string) => void;
  close: () => void;
  focusAfter: () => HTMLElement | null;
}

interface Change {
  title: (name: string) => string;
  text: string;
  button: string;
  isDestructive?: boolean;
  run: (rest: Rest, id: string) => Promise<unknown>;
  /** The account afterwards. */
  after: () => Partial<User>;
  said: (name: string) => string;
}

const setAdmin = (is_admin: boolean) => (rest: Rest, id: string) => rest.json("PUT", `/api/users/${id}/admin`, { is_admin });
const post = (what: string) => (rest: Rest, id: string) => rest.json("POST", `/api/users/${id}/${what}`);

const CHANGES = {
  promote: {
    title: (name) => `Make ${name} an administrator?`,
    text: "Administrators manage all accounts, tokens, workspaces and limits of this server.",
    button: "Make administrator",
    run: setAdmin(true),
    after: () => ({ is_admin: true }),
    said: (name) => `${name} is now an administrator.`,
  },
  demote: {
    title: (name) => `Remove ${name} as administrator?`,
    text: "The account and its notebooks stay.",
    button: "Remove as administrator",
    isDestructive: true,
    run: setAdmin(false),
    after: () => ({ is_admin: false }),
    said: (name) => `${name} is no longer an administrator.`,
  },
  deactivate: {
    title: (name) => `Deactivate ${name}’s account?`,
    text:
      "Its sessions, tokens, agents and share links end immediately, also if you reactivate the account later. " +
      "Its notebooks stay.",
    button: "Deactivate",
    isDestructive: true,
    run: post("deactivate"),
    after: () => ({ deactivated_at: serverNow() }),
    said: (name) => `${name}’s account is deactivated.`,
  },
  reactivate: {
    title: (name) => `Reactivate ${name}’s account?`,
    text: "The person can sign in again. Tokens, agents and share links that ended stay ended.",
    button: "Reactivate",
    run: post("reactivate"),
    after: () => ({ deactivated_at: null }),
    said: (name) => `${name}’s account is active again.`,
  },
} satisfies Record<string, Change>;

export function PersonDialog({ session, asked: { what, user }, changed, close, focusAfter }: Props) {
  if (what === "reset") return <PasswordLink session={session} user={user} close={close} focusAfter={focusAfter} />;
  if (what === "sign-ins") return <SignInsOf session={session} user={user} close={close} focusAfter={focusAfter} />;
  const { title, text, button, isDestructive = false, run, after, said }: Change = CHANGES[what];
  return (
    <Question
      session={session}
      title={title(user.name)}
      button={button}
      isDestructive={isDestructive}
      run={async (rest) => {
        await run(rest, user.id);
        changed({ ...user, ...after() }, said(user.name));
      }}
      close={close}
      focusAfter={focusAfter}
    >
      {text}
    </Question>
  );
}
