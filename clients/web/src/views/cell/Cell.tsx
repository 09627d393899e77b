// One cell: gutter, source, outputs, state.
import { Bot } from "lucide-react";
import { type ReactNode, Suspense, memo, useEffect, useRef, useState } from "react";
import type { AuthoredLine } from "../../app/state/authors.ts";
import { settings, useSettings } from "../../app/session/settings.ts";
import { readHeader } from "../../app/cells/sqlHeader.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { hueOf, kindOf, initials, peerName, statusWords } from "../../app/words/words.ts";
import { isSurprised } from "../../app/words/surprises.ts";
import { type Token, linesOf } from "../../outputs/highlight.ts";
import type { Actor, Cell as CellValue, CellType, PeerState } from "../../protocol/messages.ts";
import { Gutter, HiddenCells, RunState, WaitingState } from "./CellState.tsx";
import { Standing } from "./Graph.tsx";
import { Grip } from "./Grip.tsx";
import { Surprise } from "./Surprise.tsx";
import { AnsweredInputs, InputRequest } from "../outputs/InputRequest.tsx";
import { Outputs } from "../outputs/Outputs.tsx";
import { Refused } from "./Refused.tsx";
import { RunProgress } from "../outputs/RunProgress.tsx";
import { Rendered } from "../outputs/Rendered.tsx";
import { offsetAt, useThreadMarks } from "./marks.ts";
import { useTokens } from "./useTokens.ts";
import { part, promptPart } from "../../ui/parts.ts";
import type { EditorProps } from "./Editor.tsx";
import { ReplyView } from "../assistant/Reply.tsx";

/** Loads in parallel with the notebook, so that the editor is ready before the user types. */
export const editor = promptPart(() => import("./Editor.tsx"));
const CellReview = part(() => import("./CellReview.tsx"));
const SqlHead = part(() => import("./SqlHead.tsx"));
const InlineQuestion = part(() => import("../assistant/InlineQuestion.tsx"));

const KINDS: Record<CellType, string> = { code: "Code", markdown: "Text", raw: "Raw text", sql: "SQL", prompt: "Prompt" };

export const Cell = memo(function Cell({ store, id }: { store: NotebookStore; id: string }) {
  useTopics(store, `cell:${id}`);
  const root = useRef<HTMLDivElement>(null);
  const isPointed = useRef(false);
  const pressed = useRef<Element>(null);
  const cell = store.document.cells.get(id);
  const isCurrent = store.current === id;
  const isEditing = isCurrent && store.isEditing;

  useEffect(() => {
    const node = root.current;
    const wasPointed = isPointed.current;
    isPointed.current = false;
    if (!isCurrent || isEditing || !node) return;
    const isAway = !node.contains(document.activeElement) || document.activeElement?.closest(".cm-editor");
    if (isAway && store.focus.mayTake(node)) node.focus({ preventScroll: true });
    // A cell under the pointer is visible already: a click on a tall output must not scroll the page.
    if (!wasPointed) node.scrollIntoView({ block: "nearest" });
  }, [isCurrent, isEditing]);

  // Cells above that come or go change the number, but render this cell no more than that.
  useEffect(() => {
    const name = () => {
      const label = labelOf(store, id);
      if (label && root.current?.ariaLabel !== label) root.current?.setAttribute("aria-label", label);
    };
    return store.listen("order", name);
  }, [store, id]);

  if (!cell) return null;
  const run = store.document.latestExecution(id);
  const peers = [...store.replica.presence.peers.values()].filter(({ state }) => state?.cell_id === id);
  const number = store.document.order.indexOf(id) + 1;
  const waits = store.runs.waits(id);
  const isProposed = store.proposals.has(id);
  const reviewed = store.review.cells.get(id);
  const classes = [
    "cell",
    cell.cell_type,
    store.isSelected(id) && "selected",
    isCurrent && "current",
    isEditing && "editing",
    run && `is-${run.status}`,
    isProposed && "proposed",
    reviewed && `reviewed ${reviewed.kind}`,
  ];
  return (
    <div
      ref={root}
      id={`cell-${id}`}
      className={classes.filter(Boolean).join(" ")}
      role="group"
      data-cell={id}
      tabIndex={isCurrent || (store.current === undefined && number === 1) ? 0 : -1}
      aria-label={labelOf(store, id)}
      onFocus={(event) => event.target === root.current && !isCurrent && store.select(id)}
      onMouseDown={(event) => {
        isPointed.current = !isCurrent;
        pressed.current = (event.target as HTMLElement).closest(".still");
        if (event.shiftKey && !isCurrent) store.select(id, { extend: true });
        else if (!isCurrent && !(event.target as HTMLElement).closest(".source")) store.select(id);
      }}
      onMouseUp={() => {
        // A peer's caret mounted the editor between press and release: this click still opens it for editing.
        if (pressed.current?.isConnected === false) store.select(id, { edit: true });
        pressed.current = null;
      }}
    >
      <Gutter store={store} id={id} cell={cell} run={run} />
      <Grip store={store} id={id} />
      <div className="body">
        {cell.cell_type === "sql" && !(cell.flags?.source_hidden && !isEditing) && (
          <Suspense fallback={<div className="sql-head" />}>
            <SqlHead store={store} id={id} source={store.texts.shown(id) ?? cell.source} isCurrent={isCurrent} />
          </Suspense>
        )}
        <Source store={store} id={id} cell={cell} isEditing={isEditing} peers={peers} />
        {store.inline.asked?.cell === id && (
          <Suspense>
            <InlineQuestion store={store} asked={store.inline.asked} />
          </Suspense>
        )}
        {cell.cell_type === "prompt" && cell.reply && (
          <ReplyView store={store} id={id} reply={cell.reply} isStale={store.document.isStale(id)} />
        )}
        {(isProposed || reviewed) && (
          <Suspense>
            <CellReview store={store} id={id} />
          </Suspense>
        )}
        <HiddenCells store={store} id={id} />
        {waits ? <WaitingState isHeld={waits === "held"} /> : run && <RunState store={store} id={id} run={run} />}
        {run && isSurprised(run) && <Surprise store={store} id={id} run={run} />}
        {run?.status === "running" && (
          <RunProgress store={store} execution={store.document.latest.get(id) ?? ""} kernel={run.kernel_session} />
        )}
        <Standing store={store} id={id} />
        {run && (
          <AnsweredInputs
            store={store}
            executionId={store.document.latest.get(id) ?? ""}
            isOpen={run.pending_input !== undefined && run.pending_input !== null}
          />
        )}
        {run?.pending_input && (
          <InputRequest store={store} executionId={store.document.latest.get(id) ?? ""} input={run.pending_input} />
        )}
        {run &&
          (cell.flags?.outputs_hidden && run.outputs ? (
            <button
              className="button bare small quiet"
              onClick={() => void store.send({ SetCellFlags: { cell_id: id, flags: { outputs_hidden: false } } })}
            >
              Outputs hidden – show
            </button>
          ) : (
            <Outputs
              store={store}
              executionId={store.document.latest.get(id) ?? ""}
              run={run}
              isStale={store.document.isStale(id)}
            />
          ))}
        {run && <Refused store={store} id={id} run={run} />}
      </div>
      <Here store={store} id={id} peers={peers} />
    </div>
  );
});

const places = new WeakMap<readonly string[], Map<string, number>>();

/** Places of all cells. All labels are made anew after a change of the order: a search for each would be quadratic. */
function placesIn(order: readonly string[]): Map<string, number> {
  const known = places.get(order) ?? new Map(order.map((id, index) => [id, index]));
  places.set(order, known);
  return known;
}

/** Example: “Code cell 2: Done”. */
function labelOf({ document }: NotebookStore, id: string): string | undefined {
  const cell = document.cells.get(id);
  const run = document.latestExecution(id);
  if (!cell) return undefined;
  const number = (placesIn(document.order).get(id) ?? -1) + 1;
  return `${KINDS[cell.cell_type] ?? cell.cell_type} cell ${number}${run ? `: ${statusWords(run)}` : ""}`;
}

/** Avatars of peers and assistants in this cell. */
function Here({ store, id, peers }: { store: NotebookStore; id: string; peers: PeerState[] }) {
  const assistants = store.working.get(id) ?? [];
  if (peers.length === 0 && assistants.length === 0) return null;
  const words = assistants.every(({ waits }) => waits) ? "The assistant is waiting for approval" : "The assistant is working here";
  const isMe = (actor: Actor) => store.session.isMe(actor);
  const names = [...(assistants.length > 0 ? [words] : []), ...peers.map((peer) => peerName(peer, isMe))];
  return (
    <div className="here" role="img" aria-label={`Here: ${names.join(", ")}`}>
      {assistants.length > 0 && (
        <span className="avatar small bot" title={words}>
          <Bot size={12} />
        </span>
      )}
      {peers.map((peer) => (
        <span
          key={peer.connection}
          className={`avatar small peer-hue-${hueOf(peer.name || kindOf(peer.actor))}`}
          title={peerName(peer, isMe)}
        >
          {initials(peer.name || "?")}
        </span>
      ))}
    </div>
  );
}

interface SourceProps {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  isEditing: boolean;
  peers: PeerState[];
}

/** Shows the editor while this user edits or a peer's selection is in the cell; otherwise the static text. */
function Source({ store, id, cell, isEditing, peers }: SourceProps) {
  const [at, setAt] = useState<{ x: number; y: number }>();
  const isWatched = peers.some(({ state }) => state?.selection);
  const isRendered = cell.cell_type === "markdown" && !isEditing && store.found !== id;
  if (cell.flags?.source_hidden && !isEditing) {
    return (
      <button className="button bare small quiet" onClick={() => store.select(id, { edit: true })}>
        Code hidden – show
      </button>
    );
  }
  const still = (
    <Still
      store={store}
      id={id}
      cell={cell}
      isRendered={isRendered}
      edit={(x, y) => {
        setAt({ x, y });
        store.select(id, { edit: true });
      }}
    />
  );
  if (isRendered || (!isEditing && !isWatched)) return still;
  return <Edited {...{ store, id, isEditing, at, peers }} type={cell.cell_type} still={still} />;
}

/** Shows the static text until the editor has loaded. */
function Edited({ still, ...props }: EditorProps & { still: ReactNode }) {
  const Editor = editor.usePart();
  return Editor ? <Editor {...props} /> : still;
}

interface StillProps {
  store: NotebookStore;
  id: string;
  cell: CellValue;
  isRendered: boolean;
  edit: (x: number, y: number) => void;
}

/** Below this width lines wrap, so a cell never scrolls sideways (media.css). */
const WRAPPED_PX = 720;
const COLUMN_PX = 940;
const AROUND_PX = 104;
let pageWidth = 0;
addEventListener("resize", () => (pageWidth = 0));

/**
 * Estimates if a line overflows the cell, which then needs keyboard focus. Counts characters, since measuring would lay out
 * every cell.
 */
function mayScroll(source: string): boolean {
  pageWidth ||= innerWidth;
  const { fontSize, wrap } = settings();
  if (wrap || pageWidth <= WRAPPED_PX) return false;
  const room = Math.min(COLUMN_PX, pageWidth > 1_100 ? pageWidth - 480 : pageWidth - 380) - AROUND_PX;
  const fits = Math.max(20, Math.floor(room / (fontSize * 0.601)));
  return source.length > fits && new RegExp(`[^\\n]{${fits + 1}}`).test(source);
}

function coloured({ text, className }: Token, index: number) {
  if (!className) return text;
  return (
    <span key={index} className={className}>
      {text}
    </span>
  );
}

/** Author of a line, beside it. A click opens the version that added the line. */
function AuthorOf({ store, line }: { store: NotebookStore; line: AuthoredLine | undefined }) {
  return (
    <span
      className="author"
      title={line?.title}
      data-name={line?.name}
      onMouseUp={(event) => {
        event.stopPropagation();
        if (line) store.look(line.version);
      }}
    />
  );
}

/** Goes to the definition of the name at a position; returns false if there is none. */
async function define(store: NotebookStore, id: string, at: number): Promise<boolean> {
  const python = await import("../../python/tools.ts").catch(() => undefined);
  return python?.goToDefinition(store, id, at) ?? false;
}

function Still({ store, id, cell, isRendered, edit }: StillProps) {
  const { lineNumbers } = useSettings();
  const place = useRef<HTMLPreElement>(null);
  const source = store.texts.shown(id) ?? cell.source;
  const tokens = useTokens(cell.cell_type, source);
  useThreadMarks(place, store, id, source);
  if (isRendered) {
    if (source.trim() === "")
      return (
        <p className="source quiet" onDoubleClick={(event) => edit(event.clientX, event.clientY)}>
          Empty text – press Enter to write
        </p>
      );
    return (
      <div className="source rendered" onDoubleClick={(event) => edit(event.clientX, event.clientY)}>
        <Rendered text={source} attachments={cell.attachments} of={{ store, cell: id }} />
      </div>
    );
  }
  const authors = source === cell.source ? store.authors.of(id) : undefined;
  // The SQL head already shows the content of this line.
  const header = readHeader(cell.cell_type === "sql" && store.found !== id ? source : "");
  const isHeaded = header.from === 0 && header.to > 0 && source[header.to] === "\n";
  return (
    <pre
      ref={place}
      className={`source still${authors ? " authored" : ""}${isHeaded ? " headed" : ""}`}
      tabIndex={mayScroll(source) ? 0 : undefined}
      onMouseUp={(event) => {
        // Selecting text must not open the editor. The editor also shows the header line, so its text is one line lower.
        const line = isHeaded ? Math.round(settings().fontSize * 1.55) : 0;
        if (getSelection()?.isCollapsed === false || event.shiftKey) return;
        const open = () => edit(event.clientX, event.clientY + line);
        const at = event.ctrlKey || event.metaKey ? offsetAt(event.currentTarget, event.clientX, event.clientY) : undefined;
        if (cell.cell_type === "code" && at !== undefined) void define(store, id, at).then((isFound) => isFound || open());
        else open();
      }}
    >
      {lineNumbers || authors || isHeaded
        ? linesOf(tokens).map((line, index) => (
            <span key={index} className={authors ? `line peer-hue-${authors[index]?.hue ?? 0}` : "line"}>
              {authors && <AuthorOf store={store} line={authors[index]} />}
              {line.map(coloured)}
            </span>
          ))
        : tokens.map(coloured)}
      {/* A trailing break makes the last empty line visible; lines in blocks have their own height. */}
      {!lineNumbers && !authors && !isHeaded && "\n"}
    </pre>
  );
}
