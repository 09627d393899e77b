// The files beside a notebook: those of the folder in which its kernels start. Looked through, brought and fetched.
import { Dialog } from "@base-ui/react/dialog";
import { Download, File as FileIcon, FileX, Folder, RefreshCw, Upload, X } from "lucide-react";
import { type DragEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type FileEntry, type FileList, type Files as Work, type Moving, below, filesOf } from "../app/files.ts";
import { sizeWords } from "../app/sizes.ts";
import type { NotebookStore } from "../app/store.ts";
import { ago, date } from "../app/words.ts";

interface Props {
  store: NotebookStore;
  close: () => void;
}

export default function Files({ store, close }: Props) {
  const work = filesOf(store);
  const moving = useSyncExternalStore(
    (changed) => work.listen(changed),
    () => work.moving,
  );
  const [path, setPath] = useState("");
  const [all, setAll] = useState(false);
  const folder = useFolder(work, path, all);
  const picker = useRef<HTMLInputElement>(null);
  const bring = (files: Iterable<File>) => work.upload(path, [...files], folder.list?.max_file_bytes ?? Infinity);
  const drop = useDrop(bring, folder.list !== undefined);
  useEffect(() => {
    work.isShown = true;
    return () => void (work.isShown = false);
  }, [work]);
  const done = moving.filter(({ state }) => state === "done").length;
  useEffect(() => void (done > 0 && folder.refresh()), [done, folder.refresh]);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={`dialog files ${drop.isOver ? "over" : ""}`} finalFocus={false} {...drop.handlers}>
          <header className="row">
            <Dialog.Title className="grow">Files</Dialog.Title>
            <Dialog.Close className="button">Done</Dialog.Close>
          </header>
          <p className="quiet small">
            {folder.list ? `Kernels on ${folder.list.agent_name} start in this folder. ` : ""}
            Code opens files by name. Everyone who can run code here can use them; transfers aren’t recorded.
          </p>
          <div className="row">
            <Crumbs path={path} go={setPath} />
            <label className="row small">
              <input type="checkbox" checked={all} onChange={({ target }) => setAll(target.checked)} /> Show hidden
            </label>
            <button className="button bare icon" aria-label="Refresh" title="Refresh" onClick={() => folder.refresh()}>
              <RefreshCw size={15} />
            </button>
            <button className="button primary" disabled={!folder.list} onClick={() => picker.current?.click()}>
              <Upload size={15} aria-hidden /> Upload
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Files to upload"
              onChange={({ target }) => {
                bring(target.files ?? []);
                // The same file can be chosen again.
                target.value = "";
              }}
            />
          </div>
          {moving.length > 0 && <OnTheirWay work={work} moving={moving} />}
          <Listing work={work} path={path} folder={folder} go={setPath} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Opened {
  list?: FileList;
  error?: string;
  isLooking: boolean;
  refresh: () => void;
  more: () => void;
}

/** What a folder holds. An answer that comes after the next question is passed over. */
function useFolder(work: Work, path: string, all: boolean): Opened {
  const [state, setState] = useState<{ list?: FileList; error?: string; isLooking: boolean }>({ isLooking: true });
  const asked = useRef(0);
  const look = useCallback(
    async (before?: FileList) => {
      const number = ++asked.current;
      setState(({ list }) => ({ ...(list && { list }), isLooking: true }));
      try {
        const page = await work.list(path, before?.next ?? undefined, all);
        const list = before ? { ...page, files: [...before.files, ...page.files] } : page;
        if (number === asked.current) setState({ list, isLooking: false });
      } catch (error) {
        if (number === asked.current) setState({ error: (error as Error).message, isLooking: false });
      }
    },
    [work, path, all],
  );
  useEffect(() => {
    setState({ isLooking: true });
    void look();
  }, [look]);
  const refresh = useCallback(() => void look(), [look]);
  return { ...state, refresh, more: () => void look(state.list) };
}

function Crumbs({ path, go }: { path: string; go: (path: string) => void }) {
  const parts = path === "" ? [] : path.split("/");
  return (
    <nav className="row grow crumbs" aria-label="Folder">
      <button className="button bare" aria-current={path === "" ? "location" : undefined} onClick={() => go("")}>
        <Folder size={15} aria-hidden /> Folder
      </button>
      {parts.map((name, at) => (
        <span key={at} className="row">
          <span aria-hidden>/</span>
          <button
            className="button bare"
            aria-current={at === parts.length - 1 ? "location" : undefined}
            onClick={() => go(parts.slice(0, at + 1).join("/"))}
          >
            {name}
          </button>
        </span>
      ))}
    </nav>
  );
}

function Listing({ work, path, folder, go }: { work: Work; path: string; folder: Opened; go: (path: string) => void }) {
  const { list, error, isLooking } = folder;
  if (error !== undefined)
    return (
      <div className="stack tight empty">
        <p className="error" role="alert">
          {error}
        </p>
        <button className="button" onClick={folder.refresh}>
          Try again
        </button>
      </div>
    );
  if (!list)
    return (
      <p className="quiet empty" role="status">
        Loading…
      </p>
    );
  if (list.files.length === 0)
    return <p className="quiet empty">{isLooking ? "Loading…" : "No files yet. Drop files here or choose Upload."}</p>;
  return (
    <>
      <ul className="listing" aria-label="Files" aria-busy={isLooking}>
        {list.files.map((entry) => (
          <Row key={entry.name} work={work} path={path} entry={entry} go={go} />
        ))}
      </ul>
      {list.next != null && (
        <button className="button" disabled={isLooking} onClick={folder.more}>
          Show more
        </button>
      )}
      {list.is_cut === true && <p className="quiet small">Too many files to list. Open the others by name in a cell.</p>}
    </>
  );
}

function Row({ work, path, entry, go }: { work: Work; path: string; entry: FileEntry; go: (path: string) => void }) {
  const { name, kind, size_bytes, modified_at } = entry;
  const facts = (
    <>
      <span className="quiet small size">{size_bytes != null && sizeWords(size_bytes)}</span>
      <time className="quiet small changed" title={modified_at != null ? date(modified_at) : undefined}>
        {modified_at != null && ago(modified_at)}
      </time>
    </>
  );
  if (kind === "folder")
    return (
      <li>
        <button className="button bare name" onClick={() => go(below(path, name))}>
          <Folder size={15} aria-hidden /> <span>{name}</span>
        </button>
        {facts}
      </li>
    );
  return (
    <li>
      <span
        className={`name ${kind === "other" ? "quiet" : ""}`}
        title={kind === "other" ? "Not accessible: not a file, or a link out of the folder" : name}
      >
        {kind === "other" ? <FileX size={15} aria-hidden /> : <FileIcon size={15} aria-hidden />} <span>{name}</span>
      </span>
      {facts}
      {kind === "file" && (
        <button
          className="button bare icon"
          aria-label={`Download ${name}`}
          title="Download"
          onClick={() => void work.download(path, entry)}
        >
          <Download size={15} />
        </button>
      )}
    </li>
  );
}

function OnTheirWay({ work, moving }: { work: Work; moving: readonly Moving[] }) {
  return (
    <div role="status">
      <ul className="on-their-way" aria-label="Transfers">
        {moving.map((each) => (
          <li key={each.id} className={each.state}>
            <span className="name">
              {each.way === "up" ? <Upload size={14} aria-hidden /> : <Download size={14} aria-hidden />} <span>{each.name}</span>
            </span>
            <span className={`small ${each.state === "failed" || each.state === "taken" ? "bad" : "quiet"}`}>
              {stateWords(each)}
            </span>
            {each.state === "going" && <progress max={Math.max(1, each.size)} {...(each.way === "up" && { value: each.moved })} />}
            {each.state === "taken" && (
              <button className="button" onClick={() => work.again(each.id, true)}>
                Replace
              </button>
            )}
            {each.state === "failed" && each.way === "up" && (
              <button className="button" onClick={() => work.again(each.id, false)}>
                Try again
              </button>
            )}
            <button
              className="button bare icon"
              aria-label={`${isOver(each) ? "Dismiss" : "Cancel"} ${each.name}`}
              title={isOver(each) ? "Dismiss" : "Cancel"}
              onClick={() => work.dismiss(each.id)}
            >
              <X size={14} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const isOver = ({ state }: Moving) => state !== "going" && state !== "waiting";

function stateWords({ state, way, moved, size, words }: Moving): string {
  if (state === "waiting") return "Waiting";
  if (state === "done") return "Uploaded";
  if (state !== "going") return words ?? "";
  if (way === "down") return `Downloading ${sizeWords(size)}`;
  return moved >= size && size > 0 ? "Saving…" : `${sizeWords(moved)} of ${sizeWords(size)}`;
}

/** Files that are dropped anywhere on the dialog. */
function useDrop(bring: (files: File[]) => void, isOpen: boolean) {
  const [isOver, setOver] = useState(false);
  const isForUs = ({ dataTransfer }: DragEvent) => isOpen && dataTransfer.types.includes("Files");
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!isForUs(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      if (!isForUs(event)) return;
      event.preventDefault();
      setOver(false);
      // A folder has no bytes of its own.
      const items = [...event.dataTransfer.items].filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
      bring(items.map((item) => item.getAsFile()).filter((file) => file !== null));
    },
  };
  return { isOver, handlers };
}
