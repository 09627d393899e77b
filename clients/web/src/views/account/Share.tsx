// Share dialog: roles of people and workspaces, and share links. Only owners can change them.
import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Link2, Trash2, UserPlus } from "lucide-react";
import { type FormEvent, useCallback, useEffect, useMemo, useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { date, hueOf, initials, wordOf } from "../../app/words/words.ts";
import { isNotProved, linkTo } from "../../app/session/session.ts";
import type { AccessEntry, Role } from "../../protocol/messages.ts";
import type { CreatedShareLink, NotebookPage, Person, ShareLink, Workspace } from "../../protocol/rest.ts";
import { Problem, type Rest } from "../../transport/rest.ts";
import { CopyField } from "../../ui/CopyField.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { AskAgain } from "./AskAgain.tsx";
import { PersonField } from "./PersonField.tsx";

/** Roles of people, from the least rights to the most. */
const ROLES = {
  viewer: "Can view",
  commenter: "Can comment and ask the assistant",
  runner: "Can run",
  author: "Can edit, not run",
  editor: "Can edit and run",
  owner: "Owner",
} satisfies Record<Exclude<Role, "agent">, string>;

const DAY_MS = 86_400_000;
const TERMS: [string, number | undefined][] = [
  ["For a day", DAY_MS],
  ["For a week", 7 * DAY_MS],
  ["For a month", 30 * DAY_MS],
  ["Until revoked", undefined],
];

export function Share({ store, close }: { store: NotebookStore; close: () => void }) {
  useTopics(store, "access");
  const [error, setError] = useState<string>();
  const isOwner = store.replica.role === "owner" && store.session.mayManage;
  const attempt = useCallback(async <T,>(action: () => Promise<T>): Promise<T | undefined> => {
    setError(undefined);
    try {
      return await action();
    } catch (failure) {
      if (!isNotProved(failure)) setError((failure as Error).message);
      return undefined;
    }
  }, []);
  const people = store.document.access.filter(({ subject }) => subject.kind === "user");
  return (
    <TitledDialog kind="share" title={<>Share “{store.document.title || "Untitled"}”</>} error={error} close={close}>
      <section aria-label="People">
        <h3>People</h3>
        {isOwner && <AddPerson store={store} attempt={attempt} />}
        <ul className="access">
          {people.map((entry) => (
            <Person key={JSON.stringify(entry.subject)} store={store} entry={entry} isOwner={isOwner} attempt={attempt} />
          ))}
        </ul>
      </section>
      {isOwner && <Links store={store} attempt={attempt} />}
      <InWorkspace store={store} isOwner={isOwner} attempt={attempt} />
      <AskAgain session={store.session} />
    </TitledDialog>
  );
}

type Attempt = <T>(action: () => Promise<T>) => Promise<T | undefined>;

interface PartProps {
  store: NotebookStore;
  attempt: Attempt;
}

function AddPerson({ store, attempt }: PartProps) {
  const [role, setRole] = useState<Role>("editor");
  const [person, setPerson] = useState<{ text: string; id: string | undefined }>({ text: "", id: undefined });
  const { access } = store.document;
  const known = useMemo(() => new Set(access.flatMap(({ subject }) => (subject.kind === "user" ? [subject.id] : []))), [access]);
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void attempt(async () => {
      const rest = await store.session.deciding();
      const id = person.id ?? (await idOf(rest, person.text.trim()));
      await rest.json("PUT", `/api/notebooks/${store.id}/access`, { subject: { kind: "user", id }, role });
      setPerson({ text: "", id: undefined });
    });
  };
  return (
    <form className="row" onSubmit={add}>
      <PersonField
        rest={store.session.rest}
        known={known}
        text={person.text}
        isChosen={person.id !== undefined}
        choose={(text, id) => setPerson({ text, id })}
      />
      <RoleSelect label="Role" role={role} choose={setRole} />
      <button className="button primary">
        <UserPlus size={15} aria-hidden /> Add
      </button>
    </form>
  );
}

/** Returns the id of the user with exactly this login. */
async function idOf(rest: Rest, login: string): Promise<string> {
  try {
    return (await rest.get<Person>(`/api/people?login=${encodeURIComponent(login)}`)).id;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) throw new Error(`No account with the login ‘${login}’.`);
    throw error;
  }
}

function RoleSelect({
  label,
  role,
  choose,
  isDisabled,
}: {
  label: string;
  role: Role;
  choose: (role: Role) => void;
  isDisabled?: boolean;
}) {
  return (
    <select
      className="select"
      aria-label={label}
      value={role}
      disabled={isDisabled}
      onChange={(event) => choose(event.target.value as Role)}
    >
      {Object.entries(ROLES).map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

function Person({ store, entry, isOwner, attempt }: PartProps & { entry: AccessEntry; isOwner: boolean }) {
  const id = entry.subject.kind === "user" ? entry.subject.id : "";
  const [name, setName] = useState("");
  useEffect(() => void store.session.nameOf(id).then(setName, () => setName("Someone")), [store, id]);
  const isMe = id === store.session.userId;
  const path = `/api/notebooks/${store.id}/access`;
  const put = (role: Role) =>
    attempt(async () => (await store.session.deciding()).json("PUT", path, { subject: entry.subject, role }));
  return (
    <li className="row">
      <span className={`avatar small peer-hue-${hueOf(name)}`} aria-hidden>
        {initials(name)}
      </span>
      <span className="grow">
        {name}
        {isMe && <span className="quiet"> (you)</span>}
        {entry.expires_at && <span className="small quiet"> until {date(entry.expires_at)}</span>}
      </span>
      <RoleSelect label={`Role of ${name}`} role={entry.role} isDisabled={!isOwner} choose={(role) => void put(role)} />
      {isOwner && (
        <IconButton
          label={`Remove ${name}’s access`}
          title="Remove access"
          onClick={() =>
            void attempt(async () => {
              await (await store.session.deciding()).json("DELETE", path, { subject: entry.subject });
              const again = () => void put(entry.role);
              store.toast({ text: `${name} no longer has access`, action: { label: "Undo", run: again } });
            })
          }
        >
          <Trash2 size={15} />
        </IconButton>
      )}
    </li>
  );
}

function Links({ store, attempt }: PartProps) {
  const [links, setLinks] = useState<ShareLink[]>();
  const [made, setMade] = useState<{ id: string; url: string }>();
  /** The link about whose revocation the owner is asked. */
  const [asked, setAsked] = useState<string>();
  const [role, setRole] = useState<Role>("viewer");
  const { session } = store;
  const path = `/api/notebooks/${store.id}/share-links`;
  const load = useCallback(
    () => void attempt(async () => setLinks(await (await session.deciding()).get<ShareLink[]>(path))),
    [attempt, session, path],
  );
  // Opening the dialog must not prompt for a password.
  useEffect(() => {
    if (!session.asksAgain) load();
  }, [session, load]);
  const make = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const term = TERMS[Number(form.get("term"))]?.[1];
    const label = String(form.get("label") ?? "").trim();
    void attempt(async () => {
      const body = { role, label, expires_at: term === undefined ? null : serverNow() + term };
      const rest = await session.deciding();
      const { id, token } = await rest.json<CreatedShareLink>("POST", path, body);
      setMade({ id, url: linkTo(store.id, token) });
      load();
    });
  };
  const revoke = (id: string) =>
    void attempt(async () => {
      await (await session.deciding()).json("DELETE", `${path}/${id}`);
      setAsked(undefined);
      setMade((before) => (before?.id === id ? undefined : before));
      load();
    });
  return (
    <section aria-label="Links">
      <h3>Links for people without an account</h3>
      <form className="row links" onSubmit={make}>
        <input className="field grow" name="label" placeholder="Guest name" aria-label="Guest name" maxLength={80} />
        <select className="select" name="term" aria-label="Expires" defaultValue="1">
          {TERMS.map(([words], index) => (
            <option key={words} value={index}>
              {words}
            </option>
          ))}
        </select>
        <RoleSelect label="Role for the link" role={role} choose={setRole} />
        <button className="button">
          <Link2 size={15} aria-hidden /> New link
        </button>
      </form>
      {made && <Made url={made.url} />}
      <ul className="access">
        {links?.map((link) => (
          <li key={link.id} className="row">
            <Link2 size={15} className="quiet" aria-hidden />
            <span className="grow">
              {link.label || "Guest"}{" "}
              <span className="small quiet">
                {wordOf(ROLES, link.role) ?? link.role}, {link.expires_at ? `until ${date(link.expires_at)}` : "until revoked"}
              </span>
            </span>
            <IconButton
              label={`Revoke the link for ${link.label || "Guest"}`}
              title="Revoke link"
              onClick={() => setAsked(link.id)}
            >
              <Trash2 size={15} />
            </IconButton>
            {asked === link.id && <Revocation link={link} revoke={() => revoke(link.id)} close={() => setAsked(undefined)} />}
          </li>
        ))}
        {!links && session.asksAgain && (
          <li>
            <button className="link small" onClick={load}>
              Show links (asks for your password)
            </button>
          </li>
        )}
        {links?.length === 0 && !made && <li className="quiet small">No links yet.</li>}
      </ul>
    </section>
  );
}

/** Question before a link is revoked: unlike other changes of access, this has no undo. */
function Revocation({ link, revoke, close }: { link: ShareLink; revoke: () => void; close: () => void }) {
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog question">
          <AlertDialog.Title>Revoke the link for {link.label || "Guest"}?</AlertDialog.Title>
          <AlertDialog.Description className="quiet">
            Everyone who uses it loses access immediately. This can’t be undone.
          </AlertDialog.Description>
          <div className="row end">
            <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
            <button className="button danger" onClick={revoke}>
              Revoke link
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The URL of a new link, shown once: the server does not store its token. */
function Made({ url }: { url: string }) {
  return (
    <div className="made">
      <CopyField text={url} label="Link to copy" isFirst />
      <p className="small quiet">Copy it now. You won’t see it again.</p>
    </div>
  );
}

function InWorkspace({ store, isOwner, attempt }: PartProps & { isOwner: boolean }) {
  const [workspaces, setWorkspaces] = useState<Workspace[]>([]);
  const [chosen, setChosen] = useState<string>();
  const { rest } = store.session;
  useEffect(() => {
    if (store.session.userId === undefined) return;
    void attempt(async () => {
      const mine = await rest.get<Workspace[]>("/api/workspaces");
      setWorkspaces(mine);
      for (const { id } of mine) {
        const { notebooks } = await rest.get<NotebookPage>(`/api/notebooks?workspace=${id}&limit=200`);
        if (notebooks.some((each) => each.id === store.id)) setChosen(id);
      }
    });
  }, [store, rest, attempt]);
  if (workspaces.length === 0) return null;
  const place = (workspace: string) =>
    void attempt(async () => {
      const deciding = await store.session.deciding();
      await deciding.json("PUT", `/api/notebooks/${store.id}/workspace`, { workspace: workspace || null });
      setChosen(workspace);
    });
  return (
    <section aria-label="Workspace">
      <h3>Workspace</h3>
      <label className="row">
        <span className="grow small quiet">Members of the workspace also have access to this notebook.</span>
        <select
          className="select"
          aria-label="Workspace"
          value={chosen ?? ""}
          disabled={!isOwner}
          onChange={(event) => place(event.target.value)}
        >
          <option value="">None</option>
          {workspaces.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
