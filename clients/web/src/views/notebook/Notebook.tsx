// The notebook page: bar, cells, side panel and keyboard shortcuts.
import { Suspense, memo, useEffect, useRef, useState } from "react";
import { takeArrival, takeNew } from "../../app/session/arrivals.ts";
import { keepDrafts } from "../../app/session/drafts.ts";
import { opened } from "../../app/session/recent.ts";
import { keepPlace } from "../../app/session/scrollPlace.ts";
import { guestName } from "../../app/session/guest.ts";
import { go } from "../../app/session/route.ts";
import type { Session } from "../../app/session/session.ts";
import { type Carried, carriedFrom, carryOn } from "../../app/state/carried.ts";
import { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { nextTheme } from "../../app/session/settings.ts";
import { page } from "../../commands/table.ts";
import { Bar } from "./Bar.tsx";
import { Boundary } from "../../ui/Broken.tsx";
import { editor } from "../cell/Cell.tsx";
import { CellList } from "../cell/CellList.tsx";
import { CommentNews } from "../cell/CommentMark.tsx";
import { Gone } from "./Gone.tsx";
import { Following } from "./People.tsx";
import { Notices } from "./Notices.tsx";
import { Place, placeNow } from "./Place.tsx";
import { Markdown } from "../outputs/Rendered.tsx";
import { Toasts } from "./Toasts.tsx";
import { Tools } from "./Tools.tsx";
import { chooseFiles, fileDrop } from "../cell/fileDrop.ts";
import { comment } from "../cell/marks.ts";
import { useAnchors } from "./useAnchors.ts";
import { useAttention } from "./useAttention.ts";
import { useKeys } from "./useKeys.ts";
import { newId } from "../../transport/ids.ts";
import { loadParts, part } from "../../ui/parts.ts";

// Lazy: these load when they open.
const SignIn = part(() => import("../account/SignIn.tsx"));
const Assistant = part(() => import("../assistant/Assistant.tsx").then((module) => ({ default: module.Assistant })));
const Comments = part(() => import("../panels/comments/Comments.tsx"));
const History = part(() => import("../panels/history/History.tsx").then((module) => ({ default: module.History })));
const Keys = part(() => import("../panels/Keys.tsx").then((module) => ({ default: module.Keys })));
const Past = part(() => import("../panels/history/Past.tsx"));
const ReviewBar = part(() => import("../cell/CellReview.tsx").then((module) => ({ default: module.ReviewBar })));
const RecordFiles = part(() => import("../panels/history/RecordFiles.tsx"));
const Share = part(() => import("../account/Share.tsx").then((module) => ({ default: module.Share })));
const Files = part(() => import("../panels/files/Files.tsx"));
const Variables = part(() => import("../panels/Variables.tsx"));
const Uploads = part(() => import("../panels/files/Uploads.tsx"));
const FunctionForm = part(() => import("../panels/FunctionForm.tsx"));
const Pushed = part(() => import("./Pushed.tsx"));
const Palette = part(() => import("../panels/Palette.tsx").then((module) => ({ default: module.Palette })));

/** Loads what the first view of a notebook may need: the editor, and Markdown, whose late rendering would shift the layout. */
export function loadFirst(): void {
  editor.load();
  Markdown.load();
}

/** Delay for loading the other parts: cells and editor come first. */
const PARTS_MS = 1_500;

interface Props {
  session: Session;
  id: string;
  cell: string | undefined;
  panel?: "assistant" | undefined;
  run?: string | undefined;
  /** Version to show. */
  at?: number | undefined;
  signedIn: (session: Session) => void;
}

export function NotebookView({ session, id, cell, panel, run, at, signedIn }: Props) {
  const [store, setStore] = useState<NotebookStore>();
  // After a redaction everything that the page holds of the notebook is dropped, and it is opened anew.
  const carried = useRef<Carried>(undefined);
  const [redactions, setRedactions] = useState(0);
  useEffect(() => {
    const begun = new NotebookStore(session, id);
    if (carried.current?.notebook === id) carryOn(begun, carried.current);
    carried.current = undefined;
    let isRedacted = false;
    begun.replica.redacted.add(() => {
      if (begun.document.version === 0) return;
      isRedacted = true;
      const place = placeNow(begun);
      if (place) keepPlace(place);
      carried.current = carriedFrom(begun);
      begun.close();
      setRedactions((count) => count + 1);
    });
    loadFirst();
    if (session.me.actor.kind === "guest") session.connection.callMe(guestName());
    if (session.connection.state.name === "idle") session.connection.start(session.token);
    setStore(begun);
    const drafts = () => {
      const { texts, replica } = begun;
      const draft = (cell: string) => ({
        ...{ cell, text: texts.shown(cell) ?? "", base: replica.document.cells.get(cell)?.source },
        epoch: replica.redactionEpoch,
      });
      if (!isRedacted && !begun.document.erased) keepDrafts(id, texts.cells().map(draft));
    };
    const online = () => session.connection.retryNow();
    const leaving = (event: BeforeUnloadEvent) => {
      if (begun.replica.unanswered > 0 || begun.texts.cells().length > 0 || begun.runs.isWaiting) event.preventDefault();
    };
    const offline = () => session.connection.interrupt();
    addEventListener("online", online);
    addEventListener("offline", offline);
    addEventListener("beforeunload", leaving);
    addEventListener("pagehide", drafts);
    return () => {
      removeEventListener("online", online);
      removeEventListener("offline", offline);
      removeEventListener("beforeunload", leaving);
      removeEventListener("pagehide", drafts);
      drafts();
      begun.close();
    };
  }, [session, id, redactions]);
  useEffect(() => {
    if (store && panel && store.panel !== panel) store.show(panel);
  }, [store, panel]);
  if (!store) return null;
  return <Opened key={keyOf(store)} store={store} cell={cell} run={run} at={at} signedIn={signedIn} />;
}

const keys = new WeakMap<NotebookStore, string>();

/** A store has components of its own: theirs may hold what another store has dropped. */
function keyOf(store: NotebookStore): string {
  const key = keys.get(store) ?? newId();
  keys.set(store, key);
  return key;
}

function Opened({ store, cell, run, at, signedIn }: Pick<Props, "cell" | "run" | "at" | "signedIn"> & { store: NotebookStore }) {
  useTopics(store, "status", "notebook", "panel");
  const [palette, setPalette] = useState<"palette" | "help" | "keys" | "share" | "functions" | "records">();
  const { title, version } = store.document;
  useKeys(store);
  useAttention(store);
  useAnchors(store);
  useEffect(() => {
    if (version === 0) return;
    const timer = setTimeout(() => void loadParts(), PARTS_MS);
    return () => clearTimeout(timer);
  }, [version > 0]);

  useEffect(() => {
    const open = (what: typeof palette) => () => {
      store.focus.open();
      setPalette(what);
    };
    Object.assign(page, {
      palette: open("palette"),
      // Triggers a copy event, which puts the cells on the system clipboard.
      copy: () => void document.execCommand("copy"),
      help: open("help"),
      keys: open("keys"),
      share: open("share"),
      files: () => store.show("files"),
      functions: open("functions"),
      records: open("records"),
      home: () => go({ name: "home" }),
      theme: nextTheme,
      comment,
      chooseFiles: () => chooseFiles(store),
    });
  }, [store]);
  useEffect(() => {
    if (version > 0) opened(store.session.userId, store.id, title);
  }, [store, title, version > 0]);
  // A new notebook opens with its first cell in edit mode.
  useEffect(() => {
    const first = store.document.order[0];
    if (version > 0 && takeNew(store.id) && first !== undefined) store.select(first, { edit: true });
  }, [store, version > 0]);
  useEffect(() => {
    const words = version > 0 ? takeArrival(store.id) : undefined;
    if (words) store.toast({ text: words, action: { label: "Copy", run: () => void navigator.clipboard.writeText(words) } });
  }, [store, version > 0]);
  useEffect(() => {
    if (version > 0) store.inline.restore();
  }, [store, version > 0]);
  useEffect(() => void (document.title = version > 0 ? `${title || "Untitled"} – Notarium` : "Notarium"), [title, version]);
  useEffect(() => {
    if (version > 0 && cell !== undefined && store.document.cells.has(cell)) store.select(cell);
  }, [store, cell, version > 0]);

  // A link to a run opens the list of the cell's runs.
  useEffect(() => {
    if (version > 0 && cell !== undefined && run !== undefined) page.runs?.({ cell, run });
  }, [cell, run, version > 0]);

  // A link to a version shows it, with the history panel open.
  useEffect(() => {
    if (version === 0 || at === undefined) return;
    if (store.panel !== "history") store.show("history");
    store.look(Math.min(at, version));
    history.replaceState(null, "", `#/n/${store.id}`);
  }, [store, at, version > 0]);

  // Selecting another cell removes the linked one from the address.
  useTopics(store, "current");
  useEffect(() => {
    if (cell !== undefined && store.current !== undefined && store.current !== cell && store.document.cells.has(cell))
      history.replaceState(null, "", `#/n/${store.id}`);
  }, [store, cell, store.current]);

  const close = () => setPalette(undefined);
  const { state } = store.replica;
  const connection = store.session.connection.state;
  if (state.name === "gone") return <Gone store={store} message={state.message} />;
  if (version === 0 && connection.name === "refused")
    return (
      <Suspense>
        <SignIn error={connection} signedIn={signedIn} />
      </Suspense>
    );
  return (
    <div className={["notebook", store.panel && `with-panel with-${store.panel}`, store.view].filter(Boolean).join(" ")}>
      <div className="top">
        <Boundary what="The bar">
          <Bar store={store} />
        </Boundary>
        <Boundary what="The notices">
          <Notices store={store} signedIn={signedIn} />
        </Boundary>
      </div>
      <main className="page" aria-label={title || "Untitled"} {...fileDrop(store)}>
        {version === 0 ? <Loading /> : <Body store={store} />}
      </main>
      <Suspense>
        {store.panel === "assistant" && (
          <Boundary what="The assistant" close={() => store.show("assistant")}>
            <Assistant store={store} />
          </Boundary>
        )}
        {store.panel === "comments" && (
          <Boundary what="The comments" close={() => store.show("comments")}>
            <Comments store={store} />
          </Boundary>
        )}
        {store.panel === "files" && (
          <Boundary what="The files" close={() => store.show("files")}>
            <Files store={store} />
          </Boundary>
        )}
        {store.isMoving && store.panel !== "files" && <Uploads store={store} />}
        {store.panel === "history" && (
          <Boundary what="The history" close={() => store.show("history")}>
            <History store={store} />
          </Boundary>
        )}
        {store.panel === "variables" && (
          <Boundary what="The variables" close={() => store.show("variables")}>
            <Variables store={store} />
          </Boundary>
        )}
        {palette && (
          <Boundary key={palette} what="This dialog" close={close}>
            {palette === "keys" && <Keys close={close} />}
            {palette === "share" && <Share store={store} close={close} />}
            {palette === "records" && <RecordFiles store={store} close={close} />}
            {palette === "functions" && <FunctionForm store={store} close={close} />}
            {(palette === "palette" || palette === "help") && <Palette store={store} mode={palette} close={close} />}
          </Boundary>
        )}
      </Suspense>
      <Place store={store} isWanted={cell === undefined && at === undefined} />
      <CommentNews store={store} />
      <Boundary what="The review of changes">
        <Review store={store} />
      </Boundary>
      <Suspense>
        <Pushed store={store} />
      </Suspense>
      <Following store={store} />
      <LeaveView store={store} />
      <Tools store={store} />
      <Boundary what="The messages">
        <Toasts store={store} />
      </Boundary>
    </div>
  );
}

/** The cells, or an earlier version in their place. The current cells stay mounted but hidden. */
const Body = memo(function Body({ store }: { store: NotebookStore }) {
  useTopics(store, "past");
  return (
    <>
      {store.past !== undefined && (
        <Suspense fallback={<div className="shape" aria-busy="true" />}>
          <Boundary what="This version" of={store.past} close={() => store.look(undefined)}>
            <Past
              key={`${store.past} ${store.pastEntry?.first} ${store.pastEntry?.text} ${store.pastEntry?.text && store.pastEntry.cells[0]}`}
              store={store}
              at={store.past}
            />
          </Boundary>
        </Suspense>
      )}
      <div hidden={store.past !== undefined}>
        <Boundary what="The list of cells">
          <CellList store={store} />
        </Boundary>
      </div>
    </>
  );
});

/** The bar over an assistant's changes and proposals. */
function Review({ store }: { store: NotebookStore }) {
  useTopics(store, "review");
  if (store.review.cells.size + store.proposals.size === 0) return null;
  return (
    <Suspense>
      <ReviewBar store={store} />
    </Suspense>
  );
}

/** Button to leave Zen mode or the presentation. */
function LeaveView({ store }: { store: NotebookStore }) {
  if (store.view === undefined) return null;
  return (
    <div className="leave-view" role="status">
      <span className="quiet small">{store.view === "zen" ? "Zen mode" : "Presentation"}</span>
      <button className="button bare small" onClick={() => store.turnTo(undefined)}>
        Leave <kbd>Esc</kbd>
      </button>
    </div>
  );
}

function Loading() {
  return (
    <div className="loading" aria-busy="true">
      <p className="hidden" role="status">
        Opening the notebook…
      </p>
      {[62, 38, 80, 50].map((width) => (
        <div key={width} className="shape" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
