// The home page: notebook list with search and workspaces, pending approvals, new notebooks and import by drag and drop.
import { LogOut, Search, Settings2, ShieldAlert, Upload } from "lucide-react";
import { type DragEvent, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Boundary } from "../../ui/Broken.tsx";
import { arrived, madeNew } from "../../app/session/arrivals.ts";
import { keptUp } from "../../app/words/happening.ts";
import { forgetRecent, recent } from "../../app/session/recent.ts";
import { go } from "../../app/session/route.ts";
import { type Session, isNotProved } from "../../app/session/session.ts";
import { ago } from "../../app/words/words.ts";
import type { Confirmations, ImportAnswer, ListOrder, NotebookPage, WaitingCall as Waiting } from "../../protocol/rest.ts";
import icon from "../../ui/icon.svg";
import { part } from "../../ui/parts.ts";
import { Bell } from "../inbox/Bell.tsx";
import { Beginnings } from "./Beginnings.tsx";
import { NewNotebook } from "./NewNotebook.tsx";
import { type Line, NotebookRow, type Said, type Workspace } from "./NotebookRow.tsx";

const Account = part(() => import("../account/Account.tsx"));
const Settings = part(() => import("../account/Settings.tsx"));

interface Props {
  session: Session;
  signOut: () => void;
}

/** Filter of the list: all notebooks, archived ones or one workspace. */
type Filter = { kind: "all" } | { kind: "archived" } | { kind: "workspace"; id: string };

const SEARCH_MS = 200;
const LATER_MS = 1_000;
/** Refresh of presence and runs in the list: interval and maximum count of rows. */
const NOW_MS = 10_000;
const MOST_KEPT_UP = 200;
const PAGE_LINES = 50;
/** Poll interval for pending approvals, which can appear in any notebook. */
const WAITING_MS = 20_000;

export default function Home({ session, signOut }: Props) {
  const { rest } = session;
  const [text, setText] = useState("");
  const [filter, setFilter] = useState<Filter>({ kind: "all" });
  const [error, setError] = useState(session.arrival?.isBad ? session.arrival.text : undefined);
  const [unread, setUnread] = useState<string>();
  const [words, setWords] = useState<Said | undefined>(session.arrival?.isBad ? undefined : session.arrival?.text);
  const [sort, setSort] = useState<Sort>(keptSort);
  const [isAccountOpen, setIsAccountOpen] = useState(false);
  const [isSettingsOpen, setIsSettingsOpen] = useState(false);
  const [progress, setProgress] = useState<string>();
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const { page, load } = usePage(session, text, filter, sort, setUnread);
  const { workspaces, loadWorkspaces } = useWorkspaces(session);
  const waiting = useWaiting(session);

  useEffect(() => {
    document.title = "Notarium";
    session.arrival = undefined;
  }, [session]);

  const act = async (action: () => Promise<Said | undefined>) => {
    setError(undefined);
    try {
      setWords(await action());
      await load();
      // The list of notebooks is eventually consistent with commands: load it again.
      setTimeout(() => void load(), LATER_MS);
    } catch (failure) {
      if (!isNotProved(failure)) setError((failure as Error).message);
    }
  };
  const create = (body: object) =>
    act(async () => {
      const { notebook } = await rest.json<{ notebook: string }>("POST", "/api/notebooks", body);
      if (filter.kind === "workspace")
        await (await session.deciding()).json("PUT", `/api/notebooks/${notebook}/workspace`, { workspace: filter.id });
      if ("with_cell" in body) madeNew(notebook);
      go({ name: "notebook", id: notebook, cell: undefined });
      return undefined;
    });

  const bringIn = async (files: FileList | null) => {
    const chosen = [...(files ?? [])];
    let last: string | undefined;
    await act(async () => {
      for (const [index, file] of chosen.entries()) {
        setProgress(`Importing ${file.name} (${index + 1} of ${chosen.length})…`);
        const headers = { "content-type": "application/octet-stream" };
        const path = `/api/import?filename=${encodeURIComponent(file.name)}`;
        const answer = await rest.send(path, { method: "POST", headers, body: file });
        const { notebook, notices } = (await answer.json()) as ImportAnswer;
        arrived(notebook, notices);
        last = notebook;
      }
      if (chosen.length === 1 && last) go({ name: "notebook", id: last, cell: undefined });
      return undefined;
    });
    setProgress(undefined);
  };

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void bringIn(event.dataTransfer.files);
  };

  return (
    <div
      className={isOver ? "home over" : "home"}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <header className="row">
        <h1 className="grow brand">
          <img src={icon} alt="" width={26} height={26} /> Notebooks
        </h1>
        {session.me.kind === "session" ? (
          <button className="button bare" onClick={() => setIsAccountOpen(true)} aria-haspopup="dialog">
            {session.me.name}
          </button>
        ) : (
          <span className="quiet">{session.me.name}</span>
        )}
        <Bell session={session} />
        <button className="button bare icon" onClick={() => setIsSettingsOpen(true)} aria-label="Settings" title="Settings">
          <Settings2 size={16} />
        </button>
        <button className="button bare icon" onClick={signOut} aria-label="Sign out" title="Sign out">
          <LogOut size={16} />
        </button>
      </header>
      {isAccountOpen && (
        <Suspense>
          <Boundary what="Your account" close={() => setIsAccountOpen(false)}>
            <Account session={session} close={() => setIsAccountOpen(false)} />
          </Boundary>
        </Suspense>
      )}
      {isSettingsOpen && (
        <Suspense>
          <Settings close={() => setIsSettingsOpen(false)} />
        </Suspense>
      )}
      <div className="row tools" role="search">
        <label className="search grow">
          <Search size={16} aria-hidden />
          <span className="hidden">Search notebooks</span>
          <input
            className="field"
            type="search"
            placeholder="Search notebooks"
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoFocus
          />
        </label>
        {session.userId !== undefined && (
          <>
            <button className="button" onClick={() => picker.current?.click()}>
              <Upload size={16} aria-hidden /> Import
            </button>
            <input
              ref={picker}
              type="file"
              accept=".ipynb"
              multiple
              hidden
              onChange={(event) => void bringIn(event.target.files)}
            />
            <NewNotebook session={session} make={(body) => void create(body)} />
          </>
        )}
      </div>
      {(progress ?? words) && <Done said={progress ?? words} act={(action) => void act(action)} />}
      {error && (
        <p role="alert" className="error">
          {error}
        </p>
      )}
      {unread && (
        <p role="alert" className="error">
          {unread}{" "}
          <button className="button" onClick={() => void load()}>
            Try again
          </button>
        </p>
      )}
      <WaitingCalls calls={waiting} />
      {text === "" && filter.kind === "all" && <RecentCards session={session} lines={page?.lines ?? []} />}
      {session.userId !== undefined && (
        <Filters
          session={session}
          filter={filter}
          choose={setFilter}
          workspaces={workspaces}
          made={loadWorkspaces}
          fail={setError}
        />
      )}
      <main aria-label="Notebooks">
        {(page?.lines.length ?? 0) > 1 && (
          <label className="row sort small quiet">
            Sort by
            <select
              className="select"
              value={sort}
              onChange={({ target }) => {
                const chosen = target.value as Sort;
                setSort(chosen);
                localStorage.setItem(SORT_KEY, chosen);
              }}
            >
              <option value="changed">Last changed</option>
              <option value="created">Newest</option>
              <option value="title">Title</option>
            </select>
          </label>
        )}
        {!page && !unread && <div className="shape" aria-busy="true" />}
        {page?.lines.length === 0 && <Nothing isSearch={text !== ""} filter={filter} />}
        {page?.lines.length === 0 && text === "" && filter.kind !== "archived" && session.userId !== undefined && (
          <Beginnings session={session} make={(title, template) => void create({ title, template })} />
        )}
        <ul className="notebooks">
          {page?.lines.map((line) => (
            <NotebookRow key={line.id} session={session} line={line} workspaces={workspaces} act={(action) => void act(action)} />
          ))}
        </ul>
        {page?.next && (
          <button className="button" onClick={() => void load(page.next)}>
            Show more
          </button>
        )}
      </main>
    </div>
  );
}

type Sort = NonNullable<ListOrder>;

const SORT_KEY = "notarium.sort";

function keptSort(): Sort {
  const kept = localStorage.getItem(SORT_KEY);
  return kept === "title" || kept === "created" ? kept : "changed";
}

/** Result of an action, with undo if possible. */
function Done({ said, act }: { said: Said | undefined; act: (action: () => Promise<Said | undefined>) => void }) {
  const { text, undo } = typeof said === "object" ? said : { text: said, undo: undefined };
  return (
    <p role="status" className="quiet row">
      {text}
      {undo && (
        <button className="button" onClick={() => act(() => undo().then(() => "Undone"))}>
          Undo
        </button>
      )}
    </p>
  );
}

function usePage({ rest }: Session, text: string, filter: Filter, sort: Sort, fail: (words: string | undefined) => void) {
  const [page, setPage] = useState<{ lines: Line[]; next: string | undefined }>();
  const workspace = filter.kind === "workspace" ? filter.id : "";
  const archived = filter.kind === "archived";
  // Answers to an outdated query are dropped.
  const asked = `${text} ${workspace} ${archived} ${sort}`;
  const latest = useRef(asked);
  latest.current = asked;
  const get = useCallback(
    (more: Record<string, string>) => {
      const which = {
        ...(text && { text, snippets: "true" }),
        ...(workspace && { workspace }),
        ...(archived && { archived: "true" }),
        ...(sort !== "changed" && { sort }),
      };
      const query = new URLSearchParams({ limit: String(PAGE_LINES), live: "true", ...which, ...more });
      return rest.get<NotebookPage>(`/api/notebooks?${query}`);
    },
    [rest, text, workspace, archived, sort],
  );
  const load = useCallback(
    async (cursor?: string) => {
      try {
        const { notebooks, next } = await get(cursor ? { cursor } : {});
        if (latest.current !== asked) return;
        fail(undefined);
        setPage((before) => ({ lines: cursor ? [...(before?.lines ?? []), ...notebooks] : notebooks, next: next ?? undefined }));
      } catch (failure) {
        if (latest.current === asked) fail((failure as Error).message);
      }
    },
    [get, asked, fail],
  );
  useEffect(() => {
    const timer = setTimeout(() => void load(), text ? SEARCH_MS : 0);
    return () => clearTimeout(timer);
  }, [load, text]);
  const count = page?.lines.length ?? 0;
  // Updates presence and runs in place, so that rows do not move under the pointer. Returning to the tab also adds new
  // notebooks.
  useEffect(() => {
    const look = (event?: Event) => {
      if (document.visibilityState !== "visible") return;
      const isAnew = count === 0 || (event && count <= PAGE_LINES);
      void get(isAnew ? {} : { limit: String(Math.min(count, MOST_KEPT_UP)) }).then(
        ({ notebooks, next }) => {
          if (latest.current !== asked) return;
          if (isAnew) setPage({ lines: notebooks, next: next ?? undefined });
          else setPage((before) => before && { ...before, lines: keptUp(before.lines, notebooks) });
        },
        () => undefined,
      );
    };
    const timer = setInterval(() => look(), NOW_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [get, asked, count]);
  return { page, load };
}

function useWorkspaces({ rest, userId }: Session) {
  const [workspaces, setWorkspaces] = useState<Workspace[]>([]);
  const loadWorkspaces = useCallback(() => {
    if (userId !== undefined) rest.get<Workspace[]>("/api/workspaces").then(setWorkspaces, () => undefined);
  }, [rest, userId]);
  useEffect(loadWorkspaces, [loadWorkspaces]);
  return { workspaces, loadWorkspaces };
}

function useWaiting({ rest, me }: Session): Waiting[] {
  const [waiting, setWaiting] = useState<Waiting[]>([]);
  useEffect(() => {
    // If the server asks for the password again, no token has the scope.
    if (!me.scopes.includes("confirm") && me.asks_again !== true) return;
    const load = () =>
      void rest.get<Confirmations>("/api/confirmations").then(
        ({ calls }) => setWaiting(calls),
        () => undefined,
      );
    load();
    const timer = setInterval(load, WAITING_MS);
    addEventListener("focus", load);
    return () => {
      clearInterval(timer);
      removeEventListener("focus", load);
    };
  }, [rest, me]);
  return waiting;
}

function WaitingCalls({ calls }: { calls: Waiting[] }) {
  if (calls.length === 0) return null;
  return (
    <section aria-label="Waiting for your approval" className="waiting">
      <h2>
        <ShieldAlert size={15} aria-hidden /> Waiting for your approval
      </h2>
      <ul>
        {calls.map(({ notebook, title, call, confirmation }) => (
          <li key={call.id}>
            <a href={`#/n/${notebook}?assistant`} dir="auto">
              {title || "Untitled"}
            </a>
            <span className="grow"> {confirmation.summary}</span>
            <span className="quiet small">{ago(call.requested_at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RecentCards({ session, lines }: { session: Session; lines: Line[] }) {
  const [all, setAll] = useState(() => recent(session.userId));
  if (all.length < 2) return null;
  return (
    <section aria-label="Recent">
      <h2 className="quiet">Recent</h2>
      <ul className="cards">
        {all.slice(0, 4).map(({ id, title, at }) => (
          <li key={id}>
            <a href={`#/n/${id}`}>
              <span className="title" dir="auto">
                {lines.find((line) => line.id === id)?.title ?? (title || "Untitled")}
              </span>
              <span className="quiet small">{ago(at)}</span>
            </a>
            <button
              className="forget"
              aria-label={`Remove “${title || "Untitled"}” from Recent`}
              title="Remove from Recent"
              onClick={() => {
                forgetRecent(session.userId, id);
                setAll(recent(session.userId));
              }}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FilterProps {
  session: Session;
  filter: Filter;
  choose: (filter: Filter) => void;
  workspaces: Workspace[];
  made: () => void;
  fail: (words: string | undefined) => void;
}

function Filters({ session, filter, choose, workspaces, made, fail }: FilterProps) {
  const [isNaming, setIsNaming] = useState(false);
  const is = (other: Filter) => JSON.stringify(other) === JSON.stringify(filter);
  const tabs: [string, Filter][] = [
    ["All", { kind: "all" }],
    ...workspaces.map(({ id, name }): [string, Filter] => [name, { kind: "workspace", id }]),
    ["Archive", { kind: "archived" }],
  ];
  const make = (name: string) => {
    setIsNaming(false);
    if (name.trim() === "") return;
    const post = session.deciding().then((rest) => rest.json("POST", "/api/workspaces", { name: name.trim() }));
    post.then(made, (failure: Error) => !isNotProved(failure) && fail(failure.message));
  };
  return (
    <nav className="filters row" aria-label="Filter notebooks">
      {tabs.map(([name, each]) => (
        <button key={name + each.kind} className="button bare" aria-pressed={is(each)} onClick={() => choose(each)}>
          {name}
        </button>
      ))}
      {isNaming ? (
        <input
          className="field short"
          aria-label="Workspace name"
          placeholder="Workspace name"
          autoFocus
          onBlur={(event) => make(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key === "Escape") setIsNaming(false);
          }}
        />
      ) : (
        <button className="button bare quiet" onClick={() => setIsNaming(true)}>
          + Workspace
        </button>
      )}
    </nav>
  );
}

function Nothing({ isSearch, filter }: { isSearch: boolean; filter: Filter }) {
  if (isSearch) return <p className="quiet empty">No results.</p>;
  if (filter.kind === "archived") return <p className="quiet empty">The archive is empty.</p>;
  return (
    <p className="quiet empty">
      No notebooks yet. Create one, or drop an <code>.ipynb</code> file here.
    </p>
  );
}
