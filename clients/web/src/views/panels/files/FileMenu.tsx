// Actions on one file of the notebook's folder: menu, rename field and the cell that reads the file.
import { Menu } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { type FileEntry, type Files, problemWords } from "../../../app/files/files.ts";
import { nameParts, readingCell, shownName } from "../../../app/files/readers.ts";
import type { TreeView } from "./FileTree.tsx";
import { MenuPopup } from "../../../ui/MenuPopup.tsx";

interface FileActions {
  read?: () => void;
  preview?: () => void;
  download?: () => void;
  copy: () => void;
  rename?: () => void;
  remove?: () => void;
}

export function fileActions(view: TreeView, path: string, kind: FileEntry["kind"], rename: () => void): FileActions {
  const { store, work, canChange, preview } = view;
  const { folder, name } = nameParts(path);
  const isFile = kind === "file";
  const failed = (error: unknown) => store.toast({ text: `${shownName(name)}: ${problemWords(error)}`, isError: true });
  return {
    ...(isFile && store.mayEdit && { read: () => readIntoCell(view.store, path) }),
    ...(isFile && { preview: () => preview(path) }),
    ...(isFile && { download: () => void work.download(folder, { name, kind }) }),
    copy: () => void navigator.clipboard.writeText(path).then(() => store.toast({ text: "Path copied" })),
    ...(canChange && { rename }),
    ...(canChange && { remove: () => void work.remove(path).catch(failed) }),
  };
}

/** Inserts a cell that reads the file, below the current cell, and selects it. */
export function readIntoCell(store: TreeView["store"], path: string): void {
  const { cell_type, source } = readingCell(store.document, path);
  const { current } = store;
  store.edits.insert(current === undefined ? "end" : { after: current }, cell_type, source, false);
}

interface Props {
  view: TreeView;
  path: string;
  kind: FileEntry["kind"];
  rename: () => void;
}

/** A plain button until the first click, then a menu. */
export function FileMenu(props: Props) {
  const [isWanted, setIsWanted] = useState(false);
  const label = `More about ${shownName(nameParts(props.path).name)}`;
  // Clicks in the menu must not reach the row.
  return (
    <span className="row-menu" onClick={(event) => event.stopPropagation()}>
      {isWanted ? (
        <OpenMenu {...props} label={label} />
      ) : (
        <button
          className="button bare icon more"
          tabIndex={-1}
          aria-haspopup="menu"
          aria-label={label}
          title="More"
          onClick={() => setIsWanted(true)}
        >
          <Ellipsis size={16} />
        </button>
      )}
    </span>
  );
}

function OpenMenu({ view, path, kind, rename, label }: Props & { label: string }) {
  const acts = fileActions(view, path, kind, rename);
  const items: [string, (() => void) | undefined, string?][] = [
    ["Read into a cell", acts.read],
    ["Preview", acts.preview],
    ["Download", acts.download],
    ["Copy path", acts.copy],
    ["Rename or move", acts.rename],
    [kind === "folder" ? "Delete folder" : "Delete file", acts.remove, "danger"],
  ];
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="button bare icon more" tabIndex={-1} aria-label={label} title="More">
        <Ellipsis size={16} />
      </Menu.Trigger>
      {/* Inside a landmark, for screen readers. */}
      <Menu.Portal container={document.querySelector<HTMLElement>(".panel.files")}>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <MenuPopup>
            {items.map(
              ([words, act, look]) =>
                act && (
                  <Menu.Item key={words} className={`item ${look ?? ""}`} onClick={act}>
                    {words}
                  </Menu.Item>
                ),
            )}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Edits the whole path: renames the file, moves it to another folder, or both. */
export function RenameFile({ work, path, done }: { work: Files; path: string; done: (to?: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const { folder, name, stem } = nameParts(path);
    const from = folder === "" ? 0 : folder.length + 1;
    field.current?.focus();
    field.current?.setSelectionRange(from, from + (name.startsWith(stem) && stem !== "" ? stem.length : name.length));
  }, [path]);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const to = field.current?.value.replace(/^\/+/, "") ?? "";
    if (to === path || to === "") return done(path);
    setBusy(true);
    try {
      done(await work.rename(path, to));
    } catch (problem) {
      setError(problemWords(problem));
      setBusy(false);
    }
  };
  return (
    <form className="rename" onSubmit={(event) => void save(event)}>
      <input
        ref={field}
        className="field"
        aria-label="New name or path"
        defaultValue={path}
        dir="auto"
        spellCheck={false}
        readOnly={isBusy}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") done(path);
        }}
        onBlur={() => !isBusy && error === undefined && done()}
      />
      {error !== undefined && (
        <p className="error small" role="alert">
          {error}
        </p>
      )}
    </form>
  );
}
