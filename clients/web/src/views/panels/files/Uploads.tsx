// Uploads and downloads of the notebook's files: progress, errors and retries.
import { Download, Upload, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { type Files, type Moving, filesOf } from "../../../app/files/files.ts";
import { shownName } from "../../../app/files/readers.ts";
import { sizeWords } from "../../../app/words/sizes.ts";
import type { NotebookStore } from "../../../app/state/store.ts";

/** Transfers over the notebook, while the files panel is closed. */
export default function Uploads({ store }: { store: NotebookStore }) {
  const work = filesOf(store);
  const moving = useSyncExternalStore(
    (changed) => work.listen(changed),
    () => work.moving,
  );
  if (moving.length === 0) return null;
  return (
    <section className="uploads" aria-label="Uploads">
      <OnTheirWay work={work} moving={moving} />
    </section>
  );
}

export function OnTheirWay({ work, moving }: { work: Files; moving: readonly Moving[] }) {
  return (
    <div role="status">
      <ul className="on-their-way" aria-label="Transfers">
        {moving.map((each) => (
          <Line key={each.id} work={work} each={each} />
        ))}
      </ul>
    </div>
  );
}

function Line({ work, each }: { work: Files; each: Moving }) {
  const { id, state, way, size, moved } = each;
  const name = shownName(each.name);
  const isBad = state === "failed" || state === "taken";
  return (
    <li className={state}>
      <span className="name" title={name}>
        {way === "up" ? <Upload size={14} aria-hidden /> : <Download size={14} aria-hidden />} <bdi>{name}</bdi>
      </span>
      <span className={`small ${isBad ? "bad" : "quiet"}`}>{stateWords(each)}</span>
      {state === "going" && <progress max={Math.max(1, size)} {...(way === "up" && { value: moved })} />}
      {state === "taken" && (
        <>
          <button className="button" onClick={() => work.keepBoth(id)}>
            Keep both
          </button>
          <button className="button danger" onClick={() => work.again(id, true)}>
            Replace file
          </button>
        </>
      )}
      {state === "failed" && way === "up" && (
        <button className="button" onClick={() => work.again(id, false)}>
          Try again
        </button>
      )}
      <button
        className="button bare icon"
        aria-label={`${isOver(each) ? "Dismiss" : "Cancel"} ${name}`}
        title={isOver(each) ? "Dismiss" : "Cancel"}
        onClick={() => work.dismiss(id)}
      >
        <X size={14} />
      </button>
    </li>
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
