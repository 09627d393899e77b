// Accounts: search, state, and what an administrator can do with each.
import { Search, UserPlus } from "lucide-react";
import { useMemo, useState } from "react";
import { hueOf, initials } from "../../app/words/words.ts";
import type { User } from "../../protocol/rest.ts";
import type { SectionOf } from "./Administration.tsx";
import { Invite } from "./Invite.tsx";
import { Section } from "./loading.tsx";
import { type Asked, PersonDialog } from "./PersonDialog.tsx";
import { PersonMenu, menuOf } from "./PersonMenu.tsx";
import { KINDS, type Kind, byName, found } from "./people.ts";
import { dayWords } from "./words.ts";

/** Rows that are added at a time. */
const PAGE_ROWS = 100;

export function People({ session, people }: SectionOf) {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<Kind>("active");
  const [most, setMost] = useState(PAGE_ROWS);
  const [isInviting, setIsInviting] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const [said, setSaid] = useState("");
  const users = people.value;
  const shown = useMemo(() => found(users ?? [], text, kind), [users, text, kind]);
  const changed = (user: User, words: string) => {
    people.change((before) => before.map((each) => (each.id === user.id ? user : each)));
    setSaid(words);
  };
  const added = (more: readonly User[]) => people.change((before) => byName([...before, ...more]));
  const narrow = (next: () => void) => {
    next();
    setMost(PAGE_ROWS);
  };
  return (
    <Section
      title="People"
      loaded={people}
      tools={
        <button className="button primary" onClick={() => setIsInviting(true)} aria-haspopup="dialog">
          <UserPlus size={15} aria-hidden /> Invite
        </button>
      }
    >
      <div className="row search-row" role="search">
        <label className="search grow">
          <Search size={16} aria-hidden />
          <span className="hidden">Search people</span>
          <input
            className="field"
            type="search"
            placeholder="Name or login"
            value={text}
            onChange={({ target }) => narrow(() => setText(target.value))}
          />
        </label>
        <select
          className="select"
          aria-label="Accounts to show"
          value={kind}
          onChange={({ target }) => narrow(() => setKind(target.value as Kind))}
        >
          {Object.entries(KINDS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <p className="quiet small said" role="status">
        {said || (shown.length === 1 ? "1 account" : `${shown.length.toLocaleString()} accounts`)}
      </p>
      {shown.length === 0 ? (
        <p className="quiet nothing">{text.trim() === "" ? "No accounts." : "No results."}</p>
      ) : (
        <table className="accounts-table">
          <thead>
            <tr>
              <th scope="col">Person</th>
              <th scope="col">Role</th>
              <th scope="col" className="wide">
                State
              </th>
              <th scope="col" className="wide">
                Created
              </th>
              <th scope="col" className="tool">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((user) => (
              <Row
                key={user.id}
                user={user}
                isMe={user.id === session.userId}
                ask={(what) => {
                  setSaid("");
                  setAsked({ what, user });
                }}
              />
            ))}
          </tbody>
        </table>
      )}
      {shown.length > most && (
        <button className="button more" onClick={() => setMost(most + PAGE_ROWS)}>
          Show more
        </button>
      )}
      {isInviting && <Invite session={session} added={added} close={() => setIsInviting(false)} />}
      {asked && (
        <PersonDialog
          session={session}
          asked={asked}
          changed={changed}
          close={() => setAsked(undefined)}
          focusAfter={() => menuOf(asked.user)}
        />
      )}
    </Section>
  );
}

interface RowProps {
  user: User;
  isMe: boolean;
  ask: (what: Asked["what"]) => void;
}

function Row({ user, isMe, ask }: RowProps) {
  const { name, login, is_admin, created_at } = user;
  return (
    <tr className={user.deactivated_at == null ? undefined : "ended"}>
      <th scope="row">
        <span className="who">
          <span className={`avatar peer-hue-${hueOf(name)}`} aria-hidden>
            {initials(name)}
          </span>
          <span className="words">
            <span dir="auto">
              {name}
              {isMe && <span className="quiet"> (you)</span>}
            </span>
            <span className="quiet small">
              {login ?? "No login yet"}
              <span className="narrow">
                {" "}
                <State user={user} />
              </span>
            </span>
          </span>
        </span>
      </th>
      <td>{is_admin ? <span className="tag accent">Administrator</span> : <span className="quiet">Member</span>}</td>
      <td className="wide">
        <State user={user} />
      </td>
      <td className="wide quiet">{dayWords(created_at)}</td>
      <td className="tool">
        <PersonMenu user={user} ask={ask} />
      </td>
    </tr>
  );
}

function State({ user: { deactivated_at, has_password } }: { user: User }) {
  if (deactivated_at != null)
    return (
      <span className="tag plain" title={`Since ${dayWords(deactivated_at)}`}>
        Deactivated
      </span>
    );
  if (!has_password) return <span className="tag">No password</span>;
  return <span className="quiet wide">Active</span>;
}
