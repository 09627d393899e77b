// Word diff of a change: inline, or before and after side by side.
import { Columns2 } from "lucide-react";
import { useMemo, useState } from "react";
import { type Segment, diffOf } from "../app/cells/diff.ts";

/** Last layout chosen, until the page is reloaded. */
let wasBeside = false;

export default function WordDiff({ before, after }: { before: string; after: string }) {
  const segments = useMemo(() => diffOf(before, after), [before, after]);
  const [isBeside, setIsBeside] = useState(wasBeside);
  return (
    <div className="word-diff">
      <button
        className="button bare tiny"
        aria-label="Side by side"
        title="Side by side"
        aria-pressed={isBeside}
        onClick={() => setIsBeside((wasBeside = !isBeside))}
      >
        <Columns2 size={14} />
      </button>
      {isBeside ? (
        <div className="beside">
          <Text segments={segments.filter(({ kind }) => kind !== "added")} label="Before" />
          <Text segments={segments.filter(({ kind }) => kind !== "removed")} label="After" />
        </div>
      ) : (
        <Text segments={segments} label="What changed" />
      )}
    </div>
  );
}

function Text({ segments, label }: { segments: Segment[]; label: string }) {
  return (
    <pre className="effect diff" role="group" aria-label={label}>
      {segments.map(({ kind, text }, index) => {
        if (kind === "removed") return <del key={index}>{text}</del>;
        if (kind === "added") return <ins key={index}>{text}</ins>;
        if (kind === "left out")
          return (
            <span key={index} className="place">
              … {text} …
            </span>
          );
        return text;
      })}
    </pre>
  );
}
