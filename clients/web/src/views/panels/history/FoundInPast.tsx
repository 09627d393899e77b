// Places where a text stands or ever stood in the cells. A click opens the cell, or the last version that held the text.
import { useEffect, useState } from "react";
import { isStillRead, markedLine, missingWords, placeWords, rangesOf, versionWords } from "../../../app/cells/pastPlaces.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import type { FoundPlace, FoundPlaces } from "../../../protocol/rest.ts";
import { RedactButton } from "./RedactButton.tsx";

/** Debounce after typing and after changes of cells. */
const SETTLE_MS = 250;
/** Interval of searches while the server still reads the past. */
const AGAIN_MS = 1_500;

/** Below this width the panel covers the notebook. */
const PHONE = "(max-width: 720px)";

/** Events that change what is found. */
const CHANGES = /^(Cell(Inserted|Restored|Deleted|SourceEdited)|NotebookRestored|ContentRedacted)$/;

interface Found {
  text: string;
  answer?: FoundPlaces;
  error?: string;
}

export default function FoundInPast({ store, text }: { store: NotebookStore; text: string }) {
  useTopics(store, "order", "past");
  const { found, again } = usePlaces(store, text);
  if (found === undefined) return <div className="shape" aria-busy="true" />;
  const { answer, error } = found;
  if (!answer)
    return (
      <div className="row">
        <p className="error grow" role="alert">
          {error}
        </p>
        <button className="button" onClick={again}>
          Try again
        </button>
      </div>
    );
  const standing = answer.found.filter(({ line_number }) => line_number != null);
  const gone = answer.found.filter(({ line_number }) => line_number == null);
  const missing = missingWords(answer, found.text, store.document.version);
  return (
    <>
      <Places store={store} label="In the notebook" places={standing} text={found.text} />
      <Places store={store} label="In earlier versions" places={gone} text={found.text} />
      <p className="quiet small" role="status">
        {missing}
      </p>
    </>
  );
}

function Places({ store, label, places, text }: { store: NotebookStore; label: string; places: FoundPlace[]; text: string }) {
  if (places.length === 0) return null;
  return (
    <section aria-label={label}>
      <h3 className="small quiet">{label}</h3>
      <ul className="steps found-places">
        {places.map((place) => (
          <Place key={`${place.cell_id} ${place.line_number} ${place.first}`} store={store} place={place} text={text} />
        ))}
      </ul>
    </section>
  );
}

function Place({ store, place, text }: { store: NotebookStore; place: FoundPlace; text: string }) {
  const { cell_id: cell, first, last, line_number: number } = place;
  const { order } = store.document;
  const [[from, to] = [0, 0]] = rangesOf(place.line, text);
  const written = place.line.slice(from, to) || text;
  const openVersion = (version: number) => store.look(version, { first: version, cells: [cell], text });
  const open = () => {
    if (last != null) return openVersion(last);
    store.look(undefined);
    const source = store.texts.shown(cell) ?? store.document.cells.get(cell)?.source;
    const range = source === undefined ? undefined : rangeInLine(source, number ?? 1, text);
    if (range) store.goTo(cell, range);
    else store.select(cell);
    if (matchMedia(PHONE).matches) store.show("history");
  };
  const isShown = last != null && store.past === last && store.pastEntry?.text !== undefined && store.pastEntry.cells[0] === cell;
  return (
    <li aria-current={isShown}>
      <button className="step" onClick={open}>
        <code>
          {markedLine(place.line, text).map((piece, index) => (piece.isMatch ? <mark key={index}>{piece.text}</mark> : piece.text))}
        </code>
        <span className="quiet small">
          {placeWords(place, order)}
          {last != null && ` · ${versionWords(place)}`}
        </span>
      </button>
      <span className="ways">
        {last == null && first != null && (
          <button className="button bare tiny small" title={`Open version ${first}`} onClick={() => openVersion(first)}>
            {versionWords(place)}
          </button>
        )}
        <RedactButton
          store={store}
          label="Redact this text"
          choices={[{ target: { text: { text: written } }, words: "" }]}
          isIcon
        />
      </span>
    </li>
  );
}

/** Range of the first match in a line, by its number from 1. */
function rangeInLine(source: string, number: number, text: string): { from: number; to: number } | undefined {
  const lines = source.split("\n");
  const start = lines.slice(0, number - 1).reduce((length, line) => length + line.length + 1, 0);
  const [range] = rangesOf(lines[number - 1] ?? "", text);
  return range && { from: start + range[0], to: start + range[1] };
}

/** The server's answer about a text. It asks again when cells change, and while a part of the past is still being read. */
function usePlaces(store: NotebookStore, text: string): { found: Found | undefined; again: () => void } {
  const [found, setFound] = useState<Found>();
  const [asked, setAsked] = useState(0);
  const again = () => setAsked((before) => before + 1);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(again, SETTLE_MS);
    };
    const ends = [
      store.replica.folded.add(({ type }) => CHANGES.test(type) && soon()),
      store.replica.replaced.add(soon),
      () => clearTimeout(timer),
    ];
    return () => ends.forEach((end) => end());
  }, [store]);
  useEffect(() => {
    let isGone = false;
    let later: ReturnType<typeof setTimeout> | undefined;
    const query = new URLSearchParams({ text, ever: "true" });
    const ask = () =>
      store.session.rest.get<FoundPlaces>(`/api/notebooks/${encodeURIComponent(store.id)}/find?${query}`).then(
        (answer) => {
          if (isGone) return;
          setFound({ text, answer });
          if (isStillRead(answer, store.document.version)) later = setTimeout(again, AGAIN_MS);
        },
        (failure: Error) => !isGone && setFound({ text, error: failure.message }),
      );
    const timer = setTimeout(() => void ask(), SETTLE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
      clearTimeout(later);
    };
  }, [store, text, asked]);
  return { found, again };
}
