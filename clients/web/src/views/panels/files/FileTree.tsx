// Tree of the notebook's files, for pointer, touch and keyboard.
import { ChevronDown, ChevronRight, File as FileIcon, FileX, Folder } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type FileEntry, type Files, below } from "../../../app/files/files.ts";
import { nameParts, shownName } from "../../../app/files/readers.ts";
import { sizeWords } from "../../../app/words/sizes.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { ago, date } from "../../../app/words/words.ts";
import { FileMenu, RenameFile, fileActions } from "./FileMenu.tsx";
import { type Opened, useFolder } from "./useFolder.ts";

export interface TreeView {
  store: NotebookStore;
  work: Files;
  /** Lists hidden files too. */
  all: boolean;
  /** The runtime agent is new enough to rename files and move them to the trash. */
  canChange: boolean;
  preview: (path: string) => void;
  /** Folder under the dragged files. */
  over: string | undefined;
}

interface TreeState {
  open: ReadonlySet<string>;
  toggle: (path: string, isOpen?: boolean) => void;
  /** Path of the row in the tab order. */
  current: string | undefined;
  setCurrent: (path: string) => void;
  renamed: string | undefined;
  rename: (path: string | undefined) => void;
  /** Path of the row to focus once it is rendered. */
  wanted: { path?: string | undefined };
}

export function FileTree({ view, root }: { view: TreeView; root: Opened }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const [renamed, setRenamed] = useState<string>();
  const tree = useRef<HTMLUListElement>(null);
  const wanted = useRef<{ path?: string | undefined }>({}).current;
  const state: TreeState = {
    open,
    toggle: (path, isOpen = !open.has(path)) => {
      const next = new Set(open);
      if (isOpen) next.add(path);
      else next.delete(path);
      setOpen(next);
    },
    current: current ?? root.list?.files[0]?.name,
    setCurrent,
    renamed,
    rename: setRenamed,
    wanted,
  };
  return (
    <ul
      ref={tree}
      className="tree"
      role="tree"
      aria-label="Files"
      aria-busy={root.isLooking}
      onKeyDown={(event) => tree.current && walk(event, tree.current, view, state)}
    >
      <Rows view={view} state={state} path="" folder={root} level={1} />
    </ul>
  );
}

interface RowsProps {
  view: TreeView;
  state: TreeState;
  path: string;
  folder: Opened;
  level: number;
}

function Rows({ view, state, path, folder, level }: RowsProps) {
  const { list, error, isLooking } = folder;
  if (error !== undefined)
    return (
      <li role="none" className="note small error">
        {error}
      </li>
    );
  return (
    <>
      {list?.files.map((entry) => (
        <Row key={entry.name} view={view} state={state} path={below(path, entry.name)} entry={entry} level={level} />
      ))}
      {list?.files.length === 0 && (
        <li role="none" className="quiet small nothing">
          {isLooking ? "Loading…" : "Empty"}
        </li>
      )}
      {!list && (
        <li role="none" className="quiet small nothing">
          Loading…
        </li>
      )}
      {list?.next != null && (
        <li role="none">
          <button className="button bare small" disabled={isLooking} onClick={folder.more}>
            Show more
          </button>
        </li>
      )}
      {list?.is_cut === true && (
        <li role="none" className="quiet small nothing">
          Too many files to list. Open the others by name in a cell.
        </li>
      )}
    </>
  );
}

interface RowProps extends Omit<RowsProps, "folder"> {
  entry: FileEntry;
}

function Row({ view, state, path, entry, level }: RowProps) {
  const { kind, size_bytes, modified_at } = entry;
  const isOpen = state.open.has(path);
  const isFolder = kind === "folder";
  const name = shownName(entry.name);
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (state.wanted.path !== path || state.renamed === path) return;
    state.wanted.path = undefined;
    item.current?.focus();
  });
  const activate = () => {
    state.setCurrent(path);
    if (isFolder) state.toggle(path);
    else if (kind === "file") view.preview(path);
  };
  const facts = [size_bytes != null && sizeWords(size_bytes), modified_at != null && ago(modified_at)].filter(Boolean).join(" · ");
  return (
    <li
      ref={item}
      role="treeitem"
      aria-level={level}
      aria-expanded={isFolder ? isOpen : undefined}
      aria-label={[name, isFolder ? "folder" : kind === "other" ? "not accessible" : facts].filter(Boolean).join(", ")}
      data-path={path}
      data-kind={kind}
      tabIndex={state.current === path ? 0 : -1}
      onFocus={(event) => event.target === event.currentTarget && state.setCurrent(path)}
    >
      {state.renamed === path ? (
        <RenameFile
          work={view.work}
          path={path}
          done={(to) => {
            if (to !== undefined) state.wanted.path = inSight(state.open, to);
            state.rename(undefined);
          }}
        />
      ) : (
        <div
          className={`file-row ${view.over === path && isFolder ? "over" : ""}`}
          style={{ "--level": level } as React.CSSProperties}
          {...(isFolder && { "data-folder": path })}
          onClick={activate}
        >
          {isFolder ? (
            isOpen ? (
              <ChevronDown size={14} aria-hidden />
            ) : (
              <ChevronRight size={14} aria-hidden />
            )
          ) : (
            <span className="no-chevron" />
          )}
          {isFolder ? (
            <Folder size={15} aria-hidden />
          ) : kind === "file" ? (
            <FileIcon size={15} aria-hidden />
          ) : (
            <FileX size={15} aria-hidden />
          )}
          <span
            className="name"
            title={kind === "other" ? `${name}: not accessible, not a file or a link out of the folder` : name}
          >
            <bdi>{name}</bdi>
          </span>
          <span className="quiet small facts" title={modified_at != null ? date(modified_at) : undefined}>
            {size_bytes != null && sizeWords(size_bytes)}
          </span>
          <FileMenu view={view} path={path} kind={kind} rename={() => state.rename(path)} />
        </div>
      )}
      {isFolder && isOpen && (
        <ul role="group">
          <OpenFolder view={view} state={state} path={path} level={level + 1} />
        </ul>
      )}
    </li>
  );
}

/** Returns the path, or the outermost closed folder that contains it. */
function inSight(open: ReadonlySet<string>, path: string): string {
  const parts = path.split("/");
  const above = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  return above.find((each) => !open.has(each)) ?? path;
}

function OpenFolder(props: Omit<RowsProps, "folder">) {
  const folder = useFolder(props.view.work, props.path, props.view.all);
  return <Rows {...props} folder={folder} />;
}

/** Tree keys: ↑ ↓ next row, → ← expand and collapse, Enter opens, F2 renames, Delete moves to the trash. */
function walk(event: KeyboardEvent, tree: HTMLElement, view: TreeView, state: TreeState): void {
  const row = event.target as HTMLElement;
  if (row.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
  const path = row.dataset["path"] ?? "";
  const kind = row.dataset["kind"] as FileEntry["kind"];
  const rows = [...tree.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const to = (target: HTMLElement | undefined) => target?.focus();
  const at = rows.indexOf(row);
  const isOpen = state.open.has(path);
  const acts = fileActions(view, path, kind, () => state.rename(path));
  const keys: Record<string, () => void> = {
    ArrowDown: () => to(rows[at + 1]),
    ArrowUp: () => to(rows[at - 1]),
    Home: () => to(rows[0]),
    End: () => to(rows.at(-1)),
    ArrowRight: () => (kind === "folder" && !isOpen ? state.toggle(path, true) : kind === "folder" && to(rows[at + 1])),
    ArrowLeft: () => {
      if (isOpen) return state.toggle(path, false);
      const { folder } = nameParts(path);
      to(rows.find((each) => each.dataset["path"] === folder));
    },
    Enter: () => (kind === "folder" ? state.toggle(path) : kind === "file" && view.preview(path)),
    F2: () => acts.rename?.(),
    Delete: () => {
      to(rows[at + 1] ?? rows[at - 1]);
      acts.remove?.();
    },
    ContextMenu: () => row.querySelector<HTMLElement>(".file-row .more")?.click(),
  };
  const act = keys[event.key === "F10" && event.shiftKey ? "ContextMenu" : event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
