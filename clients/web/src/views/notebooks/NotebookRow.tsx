// A row of the notebook list, with its menu, and who is in the notebook and what runs there.
import { EllipsisVertical } from "lucide-react";
import { type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import { type NotebookNow, nowWords, withoutMe } from "../../app/words/happening.ts";
import { ago, date, hueOf, initials } from "../../app/words/words.ts";
import type { NotebookLine as Line, Workspace } from "../../protocol/rest.ts";
import { part } from "../../ui/parts.ts";

export type { Line };
export type { Workspace };

/** Result of an action, with undo if possible. */
export type Said = string | { text: string; undo: () => Promise<unknown> };

export interface RowProps {
  session: Session;
  line: Line;
  workspaces: Workspace[];
  /** Runs an action on the notebook and then reloads the list. */
  act: (action: () => Promise<Said | undefined>) => void;
}

interface MenuProps extends RowProps {
  rename: () => void;
  erase: () => void;
}

export type { MenuProps };

export function NotebookRow(props: RowProps) {
  const { session, line, workspaces } = props;
  const workspace = workspaces.find(({ id }) => id === line.workspace);
  const [isNaming, setIsNaming] = useState(false);
  const rename = useCallback(() => setIsNaming(true), []);
  const [isErasing, setIsErasing] = useState(false);
  const erase = useCallback(() => setIsErasing(true), []);
  if (isNaming) return <Naming {...props} end={() => setIsNaming(false)} />;
  const { found } = line;
  return (
    <li className="notebook-row">
      <a href={found ? `#/n/${line.id}/${found.cell_id}` : `#/n/${line.id}`}>
        <span className="grow what">
          <span className="title" dir="auto">
            {line.title || "Untitled"}
          </span>
          {found && <Snippet {...found} />}
        </span>
        <Owners session={session} owners={line.owners ?? []} />
        {line.now && <Now now={withoutMe(line.now, session.me.actor)} />}
        {line.is_template && <span className="tag plain">Template</span>}
        {workspace && <span className="tag plain">{workspace.name}</span>}
        <span className="quiet small cells">{line.cells === 1 ? "1 cell" : `${line.cells} cells`}</span>
        <time className="quiet small" dateTime={new Date(line.updated_at).toISOString()} title={date(line.updated_at)}>
          {ago(line.updated_at)}
        </time>
      </a>
      {session.userId !== undefined && <More {...props} rename={rename} erase={erase} />}
      {isErasing && (
        <Suspense fallback={null}>
          <Erasing {...props} close={() => setIsErasing(false)} />
        </Suspense>
      )}
    </li>
  );
}

/** Title as a field: Enter or blur renames, Escape cancels. */
function Naming({ session, line, act, end }: RowProps & { end: () => void }) {
  const isOver = useRef(false);
  const finish = (title: string | undefined) => {
    if (isOver.current) return;
    isOver.current = true;
    end();
    if (title === undefined || title === "" || title === line.title) return;
    const set = (name: string) => session.rest.json("PATCH", `/api/notebooks/${line.id}`, { title: name });
    act(async () => {
      await set(title);
      return { text: `Renamed to “${title}”`, undo: () => set(line.title) };
    });
  };
  return (
    <li className="notebook-row">
      <input
        className="field grow"
        aria-label={`New title of “${line.title || "Untitled"}”`}
        defaultValue={line.title}
        dir="auto"
        maxLength={255}
        autoFocus
        onFocus={({ target }) => target.select()}
        onBlur={({ target }) => finish(target.value.trim())}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter") finish(event.currentTarget.value.trim());
          if (event.key === "Escape") finish(undefined);
        }}
      />
    </li>
  );
}

/** Source line that matches the search, with the matches marked. */
function Snippet({ text, marks }: NonNullable<Line["found"]>) {
  const characters = [...text];
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of marks) {
    if (from < at) continue;
    parts.push(characters.slice(at, from).join(""), <mark key={from}>{characters.slice(from, to).join("")}</mark>);
    at = to;
  }
  return (
    <code className="snippet small" dir="auto">
      {parts}
      {characters.slice(at).join("")}
    </code>
  );
}

/** Names of the owners; nothing if the user is one of them. */
function Owners({ session, owners }: { session: Session; owners: string[] }) {
  const [names, setNames] = useState("");
  const key = owners.includes(session.userId ?? "") ? "" : owners.join();
  useEffect(() => {
    setNames("");
    if (key === "") return;
    let isWanted = true;
    const ids = key.split(",").slice(0, 3);
    void Promise.all(ids.map((id) => session.nameOf(id).catch(() => ""))).then((all) => {
      if (isWanted) setNames(all.filter(Boolean).join(", "));
    });
    return () => void (isWanted = false);
  }, [session, key]);
  if (names === "") return null;
  return (
    <span className="quiet small owners" title={`Owner: ${names}`} dir="auto">
      {names}
    </span>
  );
}

const loadMenu = () => import("./RowMenu.tsx");
const RowMenu = part(loadMenu);
const Erasing = part(() => import("./Erasing.tsx"));

/** A plain button until the first click, then a menu. */
function More(props: MenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <button
      className="button bare icon"
      aria-haspopup="menu"
      aria-label={`More about “${props.line.title || "Untitled"}”`}
      onPointerEnter={() => void loadMenu()}
      onClick={() => setIsWanted(true)}
    >
      <EllipsisVertical size={16} />
    </button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <RowMenu {...props} />
    </Suspense>
  );
}

/** Avatars shown; the rest is a number. */
const SHOWN = 3;

export function Now({ now }: { now: NotebookNow }) {
  const { running, queued, people } = now;
  const words = nowWords(now);
  if (words === "") return null;
  return (
    <span className="now" title={words}>
      <span className="hidden">{words}</span>
      {running + queued > 0 && (
        <span className={running > 0 ? "tag running" : "tag plain"} aria-hidden>
          <span className="word">{running > 0 ? "Running" : "Queued"}</span>
        </span>
      )}
      <span className="faces" aria-hidden>
        {people.slice(0, SHOWN).map(({ name }, index) => (
          <span key={index} className={`avatar small peer-hue-${hueOf(name)}`}>
            {initials(name)}
          </span>
        ))}
        {people.length > SHOWN && <span className="avatar small more">+{people.length - SHOWN}</span>}
      </span>
    </span>
  );
}
