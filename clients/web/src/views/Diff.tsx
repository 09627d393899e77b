// A change as it reads: what went struck out, what came marked.
import { useMemo } from "react";
import { diffOf } from "../app/diff.ts";

export default function WordDiff({ before, after }: { before: string; after: string }) {
  const segments = useMemo(() => diffOf(before, after), [before, after]);
  return (
    <pre className="effect diff">
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
