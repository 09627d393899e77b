// One notebook of the list, with what can be done to it from outside.
import { EllipsisVertical } from "lucide-react";
import { Suspense, useState } from "react";
import type { Session } from "../app/session.ts";
import { ago, date } from "../app/words.ts";
import type { components } from "../protocol/rest.ts";
import { withoutMe } from "../app/happening.ts";
import { part } from "../ui/parts.ts";
import { Now } from "./Now.tsx";

export type Line = components["schemas"]["NotebookLine"];
export type Workspace = components["schemas"]["Workspace"];

export interface RowProps {
  session: Session;
  line: Line;
  workspaces: Workspace[];
  /** Something is done to it; afterwards the list is asked for again. */
  act: (action: () => Promise<string | undefined>) => void;
}

export function NotebookRow({ session, line, workspaces, act }: RowProps) {
  const workspace = workspaces.find(({ id }) => id === line.workspace);
  return (
    <li className="notebook-row">
      <a href={`#/n/${line.id}`}>
        <span className="grow title" dir="auto">
          {line.title || "Untitled"}
        </span>
        {line.now && <Now now={withoutMe(line.now, session.me.actor)} />}
        {line.is_template && <span className="tag plain">Template</span>}
        {workspace && <span className="tag plain">{workspace.name}</span>}
        <span className="quiet small cells">{line.cells === 1 ? "1 cell" : `${line.cells} cells`}</span>
        <time className="quiet small" dateTime={new Date(line.updated_at).toISOString()} title={date(line.updated_at)}>
          {ago(line.updated_at)}
        </time>
      </a>
      {session.userId !== undefined && <More session={session} line={line} workspaces={workspaces} act={act} />}
    </li>
  );
}

const loadMenu = () => import("./RowMenu.tsx");
const RowMenu = part(loadMenu);

/** A button, which becomes a menu when somebody wants one. */
function More(props: RowProps) {
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
