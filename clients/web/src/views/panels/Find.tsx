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
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Text } from "@codemirror/state";
import { type Match, MOST_MATCHES, type Query, matchFrom, movedPlace, patternOf } from "../../app/cells/find.ts";
import { changeOf, matchesOf, plainMatches } from "../../app/cells/searching.ts";
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
  const field = useRef<HTMLInputElement>(null);
  const replacements = useRef(Promise.resolve());
  const [changes, recount] = useChanges(store);
  const pattern = useMemo(() => (query.text === "" ? undefined : patternOf(query)), [query]);
  const { matches, problem, isSearching } = useMatches(store, pattern instanceof RegExp ? query : undefined, changes);
  const { place, goTo } = usePlace(store, changes);
  const at = matches.length === 0 ? -1 : matchFrom(matches, store.document.order, place.cell, place.at);
  const current = matches[at];

  useEffect(() => {
    last = query;
    goTo(store.current, 0);
  }, [query]);
  useEffect(() => {
    store.focus.take(field.current);
    field.current?.select();
  }, [store, opening]);
  useShown(store, matches, current);

  const step = (by: 1 | -1) => {
    const next = matches[(at + by + matches.length) % matches.length];
    if (next) goTo(next.cell, next.from);
  };
  const failed = (error: Error) => void store.toast({ text: error.message, isError: true });
  const replace = async (wanted: Match[]) => {
    if (wanted.length === 0) return;
    await replaceAll(store, wanted, query, by);
    if (wanted.length > 1)
      store.toast({ text: `Replaced ${wanted.length.toLocaleString()} in ${new Set(wanted.map(({ cell }) => cell)).size} cells` });
  };
  /** Replaces the match at the place and goes past what it inserted; keys pressed meanwhile replace the following ones. */
  const replaceOne = () => {
    if (!(pattern instanceof RegExp)) return;
    const next = async () => {
      const sources = sourcesOf(store);
      const found = await matchesOf(sources, query);
      const { cell, at } = place.now();
      const match = found[matchFrom(found, store.document.order, cell, at)];
      const source = sources.find(([id]) => id === match?.cell)?.[1];
      if (!match || source === undefined) return;
      const change = await changeOf(source, [match], query, by);
      if (change.empty) return;
      await replaceAll(store, [match], query, by);
      const expected = change.apply(Text.of(source.split("\n"))).toString();
      goTo(match.cell, change.mapPos(match.to, 1), expected);
      recount();
    };
    replacements.current = replacements.current.then(next).catch(failed);
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
            <Toggle label="Replace all" onClick={() => void replace(matches).catch(failed)}>
              <ReplaceAll size={15} />
            </Toggle>
          </div>
        )}
        {(isWrong || problem !== undefined) && (
          <p className="error small" role="alert">
            {isWrong ? pattern : problem}
          </p>
        )}
      </div>
      <Count>
        {query.text === "" || isWrong || problem !== undefined
          ? ""
          : isSearching
            ? "Searching…"
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

/** Counts changes to sources, debounced; the function counts at once. */
function useChanges(store: NotebookStore): [count: number, recount: () => void] {
  const [count, setCount] = useState(0);
  const recount = useCallback(() => setCount((before) => before + 1), []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(recount, SETTLE_MS);
    };
    const ends = [store.replica.changed.add(soon), store.texts.changed.add(soon)];
    return () => {
      clearTimeout(timer);
      ends.forEach((end) => end());
    };
  }, [store, recount]);
  return [count, recount];
}

interface Found {
  matches: Match[];
  /** Reason why there is no answer, for users. */
  problem?: string;
  isSearching: boolean;
}

const NONE: Match[] = [];

/** Matches of a valid query. Those of a pattern come from a worker; the ones before stay until then. */
function useMatches(store: NotebookStore, query: Query | undefined, changes: number): Found {
  const plain = useMemo(
    () => (query && !query.isRegex ? plainMatches(sourcesOf(store), query) : undefined),
    [store, query, changes],
  );
  const [found, setFound] = useState<Found & { of: Query | undefined }>({ of: undefined, matches: NONE, isSearching: false });
  useEffect(() => {
    if (!query?.isRegex) return;
    const stop = new AbortController();
    matchesOf(sourcesOf(store), query, stop.signal).then(
      (matches) => !stop.signal.aborted && setFound({ of: query, matches, isSearching: false }),
      (error: Error) => !stop.signal.aborted && setFound({ of: query, matches: NONE, problem: error.message, isSearching: false }),
    );
    return () => stop.abort();
  }, [store, query, changes]);
  if (plain) return { matches: plain, isSearching: false };
  if (!query) return { matches: NONE, isSearching: false };
  return found.of === query ? found : { matches: NONE, isSearching: true };
}

interface Place {
  cell: string | undefined;
  at: number;
  now: () => { cell: string | undefined; at: number };
}

/** Place in the notebook from which matches are counted. Edits before it move it. */
function usePlace(
  store: NotebookStore,
  changes: number,
): { place: Place; goTo: (cell: string | undefined, at: number, source?: string) => void } {
  const textOf = (cell: string | undefined) =>
    cell === undefined ? "" : (store.texts.shown(cell) ?? store.document.cells.get(cell)?.source ?? "");
  const own = useRef({ cell: store.current, at: 0, source: textOf(store.current) });
  const [, render] = useState(0);
  const now = () => {
    const { cell, at, source } = own.current;
    const text = textOf(cell);
    if (text !== source) own.current = { cell, at: movedPlace(source, text, at), source: text };
    return own.current;
  };
  const goTo = (cell: string | undefined, at: number, source = textOf(cell)) => {
    own.current = { cell, at, source };
    render((before) => before + 1);
  };
  const { cell, at } = useMemo(now, [changes, own.current]);
  return { place: { cell, at, now }, goTo };
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
async function replaceAll(store: NotebookStore, matches: Match[], query: Query, by: string): Promise<void> {
  const cells = [...new Set(matches.map(({ cell }) => cell))];
  await store.texts.settled(cells);
  const base = store.document.version;
  const sources = new Map(cells.map((id) => [id, store.document.cells.get(id)?.source] as const));
  const commands: Command[] = [];
  for (const [cell_id, source] of sources) {
    if (source === undefined) continue;
    const own = matches.filter(({ cell }) => cell === cell_id);
    const change = await changeOf(source, own, query, by);
    if (!change.empty) commands.push({ EditSource: { cell_id, base, change: change.toJSON() as ChangeSet } });
  }
  if (commands.length > 0) await store.send({ Batch: { commands } }, { correlationId: newId() });
}
