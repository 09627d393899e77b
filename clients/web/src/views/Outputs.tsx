// What a run has put out.
import { memo, useEffect, useMemo, useState } from "react";
import { type NotebookStore } from "../app/store.ts";
import { type Shape, joined, shapeOf } from "../outputs/mime.ts";
import { renderMarkdown, safeHtml } from "../outputs/safe.ts";
import { type Part, parts } from "../outputs/text.ts";
import type { Output } from "../protocol/messages.ts";
import { Frame } from "./Frame.tsx";

export function Outputs({ store, outputs, isOld }: { store: NotebookStore; outputs: Output[]; isOld: boolean }) {
  const joinedOutputs = useMemo(() => joinStreams(outputs), [outputs]);
  return (
    <div className={isOld ? "outputs old" : "outputs"}>
      {joinedOutputs.map((output, index) => (
        <One key={index} store={store} output={output} />
      ))}
    </div>
  );
}

/** Neighbouring pieces of one stream are one text. */
function joinStreams(outputs: Output[]): Output[] {
  const joint: Output[] = [];
  for (const output of outputs) {
    const [last, next] = [joint.at(-1)?.content, output.content] as (Record<string, unknown> | undefined)[];
    const isOne =
      last?.output_type === "stream" &&
      next?.output_type === "stream" &&
      last.name === next.name &&
      !output.blobs &&
      !joint.at(-1)?.blobs;
    if (isOne) joint[joint.length - 1] = { content: { ...last, text: joined(last.text) + joined(next.text) } };
    else joint.push(output);
  }
  return joint;
}

const One = memo(function One({ store, output }: { store: NotebookStore; output: Output }) {
  const [content, setContent] = useState<unknown>(output.blobs ? undefined : output.content);
  const [error, setError] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!output.blobs) return setContent(output.content);
    let isGone = false;
    setError(undefined);
    store.session.rest.whole(store.id, output).then(
      (whole) => !isGone && setContent(whole),
      (failure: Error) => !isGone && setError(failure.message),
    );
    return () => void (isGone = true);
  }, [store, output, attempt]);
  if (error)
    return (
      <p className="error small">
        This output could not be loaded: {error}{" "}
        <button className="button" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </button>
      </p>
    );
  if (content === undefined) return <div className="shape" aria-busy="true" />;
  return <View shape={shapeOf(content)} />;
});

function View({ shape }: { shape: Shape }) {
  switch (shape.kind) {
    case "text":
      return <Text text={shape.text} stream={shape.stream} />;
    case "error":
      return <ErrorView name={shape.name} value={shape.value} traceback={shape.traceback} />;
    case "image":
      return <img className="image" src={shape.source} alt={shape.alt} width={shape.width} />;
    case "markdown":
      return <div className="rendered" dangerouslySetInnerHTML={{ __html: renderMarkdown(shape.text, undefined) }} />;
    case "html":
      return (
        <div
          className="rendered table"
          tabIndex={0}
          role="region"
          aria-label="Table"
          dangerouslySetInnerHTML={{ __html: safeHtml(shape.html) }}
        />
      );
    case "frame":
      return <Frame html={shape.html} />;
    case "json":
      return (
        <details className="json" open>
          <summary>JSON</summary>
          <pre>{JSON.stringify(shape.value, null, 2)}</pre>
        </details>
      );
    case "unknown":
      return (
        <p className="quiet small">This output has no form that can be shown here ({shape.types.join(", ") || "it is empty"}).</p>
      );
  }
}

const FOLDED_LINES = 60;

function Text({ text, stream }: { text: string; stream: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const lines = useMemo(() => text.split("\n"), [text]);
  const isLong = lines.length > FOLDED_LINES;
  // Of a long text the end is what one waits for.
  const shown = isLong && !isWhole ? lines.slice(-FOLDED_LINES).join("\n") : text;
  return (
    <div className={`text ${stream}`}>
      {isLong && (
        <button className="button bare small" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? "Show the end only" : `Show ${(lines.length - FOLDED_LINES).toLocaleString()} earlier lines`}
        </button>
      )}
      <pre>
        <Ansi text={shown} />
      </pre>
    </div>
  );
}

function Ansi({ text }: { text: string }) {
  const list = useMemo(() => parts(text), [text]);
  return list.map((part, index) => <Coloured key={index} part={part} />);
}

function Coloured({ part: { text, className, color, background } }: { part: Part }) {
  if (!className && !color && !background) return text;
  return (
    <span className={className} style={{ ...(color && { color }), ...(background && { background }) }}>
      {text}
    </span>
  );
}

function ErrorView({ name, value, traceback }: { name: string; value: string; traceback: string }) {
  return (
    <details className="failure">
      <summary>
        <strong>{name}</strong>
        {value && `: ${value}`}
      </summary>
      <pre>
        <Ansi text={traceback} />
      </pre>
    </details>
  );
}
