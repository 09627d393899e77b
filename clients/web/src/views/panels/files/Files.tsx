// The files panel: the folder in which the notebook's kernels start, as a tree. Lazy: loads when it opens.
import { RefreshCw, Trash2, Upload, X } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type Files as Work, filesOf } from "../../../app/files/files.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import FilePreview from "./FilePreview.tsx";
import { FileTree, type TreeView } from "./FileTree.tsx";
import { FileTrash } from "./FileTrash.tsx";
import { OnTheirWay } from "./Uploads.tsx";
import { useFileTarget } from "./useFileTarget.ts";
import { type Opened, useFolder } from "./useFolder.ts";

export function useMoving(work: Work) {
  return useSyncExternalStore(
    (changed) => work.listen(changed),
    () => work.moving,
  );
}

export default function Files({ store }: { store: NotebookStore }) {
  useTopics(store, "access", "notebook");
  const work = filesOf(store);
  useEffect(() => {
    work.isShown = true;
    return () => void (work.isShown = false);
  }, [work]);
  return (
    <aside className="panel files" aria-label="Files">
      {store.mayRun ? (
        <Shelf store={store} work={work} />
      ) : (
        <>
          <Head store={store} />
          <p className="quiet empty">
            {store.document.archived
              ? "This notebook is archived. Unarchive it to use its files."
              : "You need the right to run code to use files."}
          </p>
        </>
      )}
    </aside>
  );
}

function Head({ store, children }: { store: NotebookStore; children?: React.ReactNode }) {
  return (
    <header className="row">
      <h2 className="grow">Files</h2>
      {children}
      <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("files")}>
        <X size={16} />
      </button>
    </header>
  );
}

function Shelf({ store, work }: { store: NotebookStore; work: Work }) {
  const moving = useMoving(work);
  const [all, setAll] = useState(false);
  const [isTrash, setTrash] = useState(false);
  const [previewed, setPreviewed] = useState<string>();
  const root = useFolder(work, "", all);
  const most = root.list?.max_file_bytes;
  const bring = (folder: string, files: File[]) => work.upload(folder, files, most);
  const drop = useFileTarget(bring, root.list !== undefined && !isTrash);
  const view: TreeView = { store, work, all, canChange: root.list?.can_change ?? false, preview: setPreviewed, over: drop.folder };
  return (
    <div className={`shelf ${drop.folder === "" ? "over" : ""}`} {...drop.handlers}>
      <Head store={store}>
        <Picker bring={(files) => bring("", files)} isReady={root.list !== undefined} />
        <button className="button bare icon" aria-label="Refresh" title="Refresh" onClick={root.refresh}>
          <RefreshCw size={15} />
        </button>
      </Head>
      {moving.length > 0 && <OnTheirWay work={work} moving={moving} />}
      {isTrash ? <FileTrash work={work} back={() => setTrash(false)} /> : <Top view={view} root={root} />}
      {!isTrash && (
        <footer className="row">
          <label className="row small grow">
            <input type="checkbox" checked={all} onChange={({ target }) => setAll(target.checked)} /> Show hidden
          </label>
          {view.canChange && (
            <button className="button bare" onClick={() => setTrash(true)}>
              <Trash2 size={15} aria-hidden /> Trash
            </button>
          )}
        </footer>
      )}
      {previewed !== undefined && <FilePreview store={store} work={work} path={previewed} close={() => setPreviewed(undefined)} />}
    </div>
  );
}

function Picker({ bring, isReady }: { bring: (files: File[]) => void; isReady: boolean }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button className="button" disabled={!isReady} onClick={() => picker.current?.click()}>
        <Upload size={15} aria-hidden /> Upload
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          bring([...(target.files ?? [])]);
          // Reset, so that the same file can be chosen again.
          target.value = "";
        }}
      />
    </>
  );
}

function Top({ view, root }: { view: TreeView; root: Opened }) {
  const { list, error, isLooking } = root;
  if (error !== undefined)
    return (
      <div className="stack tight empty">
        <p className="error" role="alert">
          {error}
        </p>
        <button className="button" onClick={root.refresh}>
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
  return (
    <>
      <p className="quiet small">
        On {list.agent_name}. Code reads a file by its name here.
        {!view.canChange && " This agent is too old to rename or delete files: update it."}
      </p>
      {list.files.length === 0 && !isLooking ? (
        <p className="quiet empty">No files yet. Drop files here, or upload them.</p>
      ) : (
        <FileTree view={view} root={root} />
      )}
    </>
  );
}
