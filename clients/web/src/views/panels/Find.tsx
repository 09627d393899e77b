// Find and replace in all cells. Lazy: loads when it opens.
import {
  ArrowDown,
  ArrowUp,
  CaseSensitive,
  ChevronDown,
  ChevronRight,
  Regex,
  Replace,
  ReplaceAll,
  WholeWord,
  X,
} from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { type Match, MOST_MATCHES, type Query, matchFrom, matchesIn, patternOf, replacing } from "../../app/cells/find.ts";
import type { MarkedRange } from "../../app/state/notebook.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import type { ChangeSet, Command } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
import { clearMarks, mark, markedPlace } from "../cell/marks.ts";

/** Last query, until the page is reloaded. */
let last: Query = { text: "", isRegex: false, isCase: false, isWord: false };
/** Debounce after typing and after changes by peers. */
const SETTLE_MS = 120;
const SAID_MS = 700;

export interface Opening {
  /** Selected text. */
  text: string;
  /** Caret or selection in the editor. */
  from: MarkedRange | undefined;
}

interface Props {
  store: NotebookStore;
  opening: Opening;
  close: () => void;
}

export default function Find({ store, opening, close }: Props) {
  const { text, from } = opening;
  const [query, setQuery] = useState<Query>(() => ({ ...last, ...(text && { text }) }));
  const [by, setBy] = useState("");
  const [isReplacing, setReplacing] = useState(false);
  const [index, setIndex] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  /** Place after the match replaced last, until the matches are found anew. */
  const after = useRef<{ cell: string; at: number }>(undefined);
  const replacements = useRef(Promise.resolve());
  const changes = useChanges(store);
  const pattern = useMemo(() => (query.text === "" ? undefined : patternOf(query)), [query]);
  const matches = useMemo(() => (pattern instanceof RegExp ? matchesIn(sourcesOf(store), pattern) : []), [store, pattern, changes]);
  const at = Math.min(index, matches.length - 1);
  const current = matches[at];

  useEffect(() => {
    last = query;
    setIndex(matchFrom(matches, store.document.order, store.current, 0));
  }, [query]);
  useEffect(() => {
    store.focus.take(field.current);
    field.current?.select();
  }, [store, opening]);
  useEffect(() => {
    const { cell, at } = after.current ?? {};
    after.current = undefined;
    if (at !== undefined) setIndex(matchFrom(matches, store.document.order, cell, at));
  }, [store, matches]);
  useShown(store, matches, current);

  const step = (by: 1 | -1) => matches.length > 0 && setIndex((at + by + matches.length) % matches.length);
  const replace = async (wanted: Match[]) => {
    if (!(pattern instanceof RegExp) || wanted.length === 0) return;
    await replaceAll(store, wanted, pattern, by, query.isRegex);
    if (wanted.length > 1)
      store.toast({ text: `Replaced ${wanted.length.toLocaleString()} in ${new Set(wanted.map(({ cell }) => cell)).size} cells` });
  };
  /** Replaces the current match and goes to the next; keys pressed meanwhile replace the following ones. */
  const replaceOne = () => {
    if (!(pattern instanceof RegExp)) return;
    const next = async () => {
      const sources = new Map(sourcesOf(store));
      const found = matchesIn(sources, pattern);
      const place = after.current;
      const match = place ? found[matchFrom(found, store.document.order, place.cell, place.at)] : current;
      if (!match) return;
      const change = replacing(sources.get(match.cell) ?? "", [match], pattern, by, query.isRegex);
      if (change.empty) return;
      after.current = { cell: match.cell, at: change.mapPos(match.to, 1) };
      await replaceAll(store, [match], pattern, by, query.isRegex);
    };
    replacements.current = replacements.current.then(next, next);
  };
  const leave = () => {
    const isText = current && store.document.cells.get(current.cell)?.cell_type === "markdown";
    close();
    if (current && !isText) store.goTo(current.cell, current);
    else if (!current && from && store.document.cells.has(from.cell)) store.goTo(from.cell, from);
    else store.select(current?.cell ?? store.current);
  };
  const press = (event: KeyboardEvent) => {
    const isNext =
      (event.key === "Enter" && !event.altKey) || event.key === "F3" || (event.key === "g" && (event.ctrlKey || event.metaKey));
    if (event.key === "Escape") leave();
    else if (isNext && !(event.target as HTMLElement).closest("button")) step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  const toggle = (name: "isCase" | "isWord" | "isRegex", label: string, icon: ReactNode) => (
    <Toggle label={label} isOn={query[name]} onClick={() => setQuery({ ...query, [name]: !query[name] })}>
      {icon}
    </Toggle>
  );
  const isWrong = typeof pattern === "string";
  return (
    <div className="find" role="search" aria-label="Find in the notebook" onKeyDown={press}>
      {store.mayEdit && (
        <Toggle label="Replace" isOn={isReplacing} onClick={() => setReplacing(!isReplacing)}>
          {isReplacing ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
        </Toggle>
      )}
      <div className="fields">
        <div className="line">
          <input
            ref={field}
            className="field"
            aria-label="Find"
            placeholder="Find in all cells"
            aria-invalid={isWrong}
            value={query.text}
            onChange={(event) => setQuery({ ...query, text: event.target.value })}
          />
          {toggle("isCase", "Match case", <CaseSensitive size={16} />)}
          {toggle("isWord", "Whole words", <WholeWord size={16} />)}
          {toggle("isRegex", "Regular expression", <Regex size={15} />)}
        </div>
        {isReplacing && (
          <div className="line">
            <input
              className="field"
              aria-label="Replace with"
              placeholder="Replace with"
              value={by}
              onChange={(event) => setBy(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.altKey || event.nativeEvent.isComposing) return;
                event.preventDefault();
                event.stopPropagation();
                replaceOne();
              }}
            />
            <Toggle label="Replace this match" onClick={replaceOne}>
              <Replace size={15} />
            </Toggle>
            <Toggle label="Replace all" onClick={() => void replace(matches)}>
              <ReplaceAll size={15} />
            </Toggle>
          </div>
        )}
        {isWrong && <p className="error small">{pattern}</p>}
      </div>
      <Count>
        {query.text === "" || isWrong
          ? ""
          : matches.length === 0
            ? "No results"
            : `${at + 1} of ${matches.length.toLocaleString()}${matches.length === MOST_MATCHES ? "+" : ""}`}
      </Count>
      <Toggle label="Previous match" onClick={() => step(-1)}>
        <ArrowUp size={15} />
      </Toggle>
      <Toggle label="Next match" onClick={() => step(1)}>
        <ArrowDown size={15} />
      </Toggle>
      <Toggle label="Close" onClick={leave}>
        <X size={15} />
      </Toggle>
    </div>
  );
}

/** Match count. The live region is debounced, so that screen readers do not announce it at every key. */
function Count({ children }: { children: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(children), SAID_MS);
    return () => clearTimeout(timer);
  }, [children]);
  return (
    <>
      <span className="count small quiet" aria-hidden>
        {children}
      </span>
      <span className="hidden" role="status">
        {said}
      </span>
    </>
  );
}

function Toggle({ label, isOn, onClick, children }: { label: string; isOn?: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button className="button bare tiny" aria-label={label} title={label} aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  );
}

function sourcesOf(store: NotebookStore): [string, string][] {
  const { order, cells } = store.document;
  return order.map((id) => [id, store.texts.shown(id) ?? cells.get(id)?.source ?? ""]);
}

/** Counts changes to sources, debounced. */
function useChanges(store: NotebookStore): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => setCount((before) => before + 1), SETTLE_MS);
    };
    const ends = [store.replica.changed.add(soon), store.texts.changed.add(soon)];
    return () => {
      clearTimeout(timer);
      ends.forEach((end) => end());
    };
  }, [store]);
  return count;
}

/** Highlights the matches; shows the source of the current match's cell and scrolls to the match. */
function useShown(store: NotebookStore, matches: Match[], current: Match | undefined): void {
  const cell = current?.cell;
  useEffect(() => {
    store.find(cell);
    return () => store.find(undefined);
  }, [store, cell]);
  useEffect(() => {
    // Next frame: the cell shows its source by then.
    const frame = requestAnimationFrame(() => {
      mark(matches, current);
      const place = markedPlace(current)?.getBoundingClientRect();
      const isInSight = place && place.top > 110 && place.bottom < innerHeight - 60;
      if (place && !isInSight) scrollBy({ top: place.top - innerHeight / 3 });
    });
    return () => cancelAnimationFrame(frame);
  }, [matches, current]);
  useEffect(() => () => clearMarks(), []);
}

/** Replaces all matches in one batch, which is one undo step. */
async function replaceAll(store: NotebookStore, matches: Match[], pattern: RegExp, by: string, isRegex: boolean): Promise<void> {
  const cells = [...new Set(matches.map(({ cell }) => cell))];
  await store.texts.settled(cells);
  const base = store.document.version;
  const commands: Command[] = cells.flatMap((cell_id) => {
    const source = store.document.cells.get(cell_id)?.source;
    if (source === undefined) return [];
    const own = matches.filter(({ cell }) => cell === cell_id);
    const change = replacing(source, own, pattern, by, isRegex);
    return change.empty ? [] : [{ EditSource: { cell_id, base, change: change.toJSON() as ChangeSet } }];
  });
  if (commands.length > 0) await store.send({ Batch: { commands } }, { correlationId: newId() });
}
