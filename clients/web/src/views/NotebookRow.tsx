// One notebook of the list, with what can be done to it from outside.
import { Menu } from "@base-ui/react/menu";
import { EllipsisVertical } from "lucide-react";
import { download } from "../app/download.ts";
import type { Session } from "../app/session.ts";
import { ago, date } from "../app/words.ts";
import type { components } from "../protocol/rest.ts";

export type Line = components["schemas"]["NotebookLine"];
export type Workspace = components["schemas"]["Workspace"];

interface Props {
  session: Session;
  line: Line;
  workspaces: Workspace[];
  /** Something is done to it; afterwards the list is asked for again. */
  act: (action: () => Promise<string | undefined>) => void;
}

export function NotebookRow({ session, line, workspaces, act }: Props) {
  const workspace = workspaces.find(({ id }) => id === line.workspace);
  return (
    <li className="notebook-row">
      <a href={`#/n/${line.id}`}>
        <span className="grow title" dir="auto">
          {line.title || "Untitled"}
        </span>
        {workspace && <span className="tag plain">{workspace.name}</span>}
        <span className="quiet small cells">{line.cells === 1 ? "1 cell" : `${line.cells} cells`}</span>
        <time className="quiet small" dateTime={new Date(line.updated_at).toISOString()} title={date(line.updated_at)}>
          {ago(line.updated_at)}
        </time>
      </a>
      {session.userId !== undefined && <RowMenu session={session} line={line} workspaces={workspaces} act={act} />}
    </li>
  );
}

function RowMenu({ session, line, workspaces, act }: Props) {
  const { rest } = session;
  const path = `/api/notebooks/${line.id}`;
  const post = (what: string, words: string, body?: object) =>
    act(async () => {
      await rest.json("POST", `${path}/${what}`, body ?? {});
      return words;
    });
  const place = (workspace: string | null) =>
    act(async () => {
      await (await session.deciding()).json("PUT", `${path}/workspace`, { workspace });
      return undefined;
    });
  return (
    <Menu.Root>
      <Menu.Trigger className="button bare icon" aria-label={`More about “${line.title || "Untitled"}”`}>
        <EllipsisVertical size={16} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <Menu.Popup className="menu">
            <Menu.Item
              className="item"
              onClick={() => post("fork", "A copy was made", { title: `${line.title || "Untitled"} (copy)` })}
            >
              Make a copy
            </Menu.Item>
            <Menu.Item className="item" onClick={() => act(() => download(rest, line.id, line.title))}>
              Download as .ipynb
            </Menu.Item>
            {line.archived ? (
              <Menu.Item className="item" onClick={() => post("unarchive", "It is out of the archive")}>
                Take out of the archive
              </Menu.Item>
            ) : (
              <Menu.Item className="item" onClick={() => post("archive", "It is in the archive")}>
                Archive
              </Menu.Item>
            )}
            {workspaces.length > 0 && <p className="note small">Workspace</p>}
            {workspaces.map(({ id, name }) => (
              <Menu.Item key={id} className="item" onClick={() => place(line.workspace === id ? null : id)}>
                {name} {line.workspace === id && <span className="quiet">take out</span>}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
