// Menu of a notebook in the list. Lazy: loads with the first menu.
import { Menu } from "@base-ui/react/menu";
import { EllipsisVertical } from "lucide-react";
import { download } from "../../app/files/download.ts";
import type { MenuProps } from "./NotebookRow.tsx";
import { MenuPopup } from "../../ui/MenuPopup.tsx";

export default function RowMenu({ session, line, workspaces, act, rename, erase }: MenuProps) {
  const { rest } = session;
  const path = `/api/notebooks/${line.id}`;
  const post = (what: string, words: string, body?: object) =>
    act(async () => {
      await rest.json("POST", `${path}/${what}`, body ?? {});
      return words;
    });
  const title = line.title || "Untitled";
  const remove = () =>
    act(async () => {
      await rest.json("POST", `${path}/archive`, {});
      return { text: `“${title}” is in the archive`, undo: () => rest.json("POST", `${path}/unarchive`, {}) };
    });
  const place = (workspace: string | null) =>
    act(async () => {
      await (await session.deciding()).json("PUT", `${path}/workspace`, { workspace });
      return undefined;
    });
  const markTemplate = () =>
    act(async () => {
      await rest.json(line.is_template ? "DELETE" : "PUT", `${path}/template`);
      return line.is_template ? "No longer a template" : "Saved as a template: choose it beside “New notebook”";
    });
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="button bare icon" aria-label={`More about “${line.title || "Untitled"}”`}>
        <EllipsisVertical size={16} />
      </Menu.Trigger>
      {/* Inside a landmark, for screen readers. */}
      <Menu.Portal container={document.querySelector("main")}>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <MenuPopup>
            {!line.archived && (
              <Menu.Item className="item" onClick={rename}>
                Rename
              </Menu.Item>
            )}
            <Menu.Item className="item" onClick={() => post("fork", "Copied", { title: `${line.title || "Untitled"} (copy)` })}>
              Make a copy
            </Menu.Item>
            {!line.archived && (
              <Menu.Item className="item" onClick={markTemplate}>
                {line.is_template ? "Stop using as template" : "Use as template"}
              </Menu.Item>
            )}
            <Menu.Item className="item" onClick={() => act(() => download(rest, line.id, line.title))}>
              Download as .ipynb
            </Menu.Item>
            {line.archived ? (
              <Menu.Item className="item" onClick={() => post("unarchive", "Unarchived")}>
                Unarchive
              </Menu.Item>
            ) : (
              <Menu.Item className="item danger" onClick={remove}>
                Delete notebook
              </Menu.Item>
            )}
            {line.owners?.includes(session.userId ?? "") && (
              <Menu.Item className="item danger" onClick={erase}>
                Erase…
              </Menu.Item>
            )}
            {workspaces.length > 0 && <p className="note small">Workspace</p>}
            {workspaces.map(({ id, name }) => (
              <Menu.Item key={id} className="item" onClick={() => place(line.workspace === id ? null : id)}>
                {name} {line.workspace === id && <span className="quiet">Remove</span>}
              </Menu.Item>
            ))}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
