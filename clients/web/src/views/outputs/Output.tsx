// One output with its tools: copy, wrap, collapse, enlarge and save.
import { ChevronDown, ChevronRight, Copy, Download, Maximize2, Minimize2, WrapText } from "lucide-react";
import { type ReactNode, Suspense, memo, useEffect, useMemo, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { type AllRows, type Group, allRowsOf } from "../../outputs/groups.ts";
import { bareLatex } from "../../outputs/maths.ts";
import { type Shape, shapeOf } from "../../outputs/mime.ts";
import { withoutEscapes } from "../../outputs/escapes.ts";
import { settledLines } from "../../outputs/terminal.ts";
import { exactJson } from "../../protocol/exactJson.ts";
import type { Execution } from "../../protocol/messages.ts";
import type { FrameOutputProps } from "./FrameOutput.tsx";
import { Rendered } from "./Rendered.tsx";
import { ErrorView } from "./ErrorView.tsx";
import { useContent } from "./load.ts";
import { Text } from "./Text.tsx";
import { part, promptPart } from "../../ui/parts.ts";

const ArrowTable = part(() => import("./ArrowTable.tsx"));
const DataTable = part(() => import("./DataTable.tsx"));
const PrintedTable = part(async () => ({ default: (await import("./DataTable.tsx")).Printed }));
const JsonTree = part(() => import("./JsonTree.tsx"));
const Picture = part(() => import("./Picture.tsx"));
const frameOutput = promptPart(() => import("./FrameOutput.tsx"));

interface Props {
  store: NotebookStore;
  group: Group;
  run: Execution;
  isGrowing: boolean;
}

const size = new Intl.NumberFormat(undefined, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
const megabytes = (bytes: number) => size.format(bytes / 1_000_000);

export const OutputView = memo(function OutputView({ store, group, run, isGrowing }: Props) {
  const loaded = useContent(store, group);
  const content = loaded.state === "there" ? loaded.content : undefined;
  const shape = useMemo(() => (content === undefined ? undefined : shapeOf(content)), [content]);
  const [first] = group.outputs;
  const allRows = useMemo(() => first && allRowsOf(first), [first]);
  if (loaded.state === "failed") {
    return (
      <p className="error small">
        Couldn’t load this output. {loaded.why}{" "}
        <button className="button" onClick={loaded.again}>
          Try again
        </button>
      </p>
    );
  }
  if (loaded.state === "large") {
    return (
      <p className="small quiet row">
        Large output ({megabytes(loaded.bytes)}).{" "}
        <button className="button" onClick={loaded.show}>
          Show all
        </button>
      </p>
    );
  }
  if (loaded.state === "loading") {
    if (loaded.read === 0) return <div className="shape" aria-busy="true" />;
    return (
      <label className="small quiet row">
        <progress value={loaded.read} max={loaded.bytes} /> {megabytes(loaded.read)} of {megabytes(loaded.bytes)}
      </label>
    );
  }
  if (!shape || shape.kind === "nothing") return null;
  return (
    <>
      {loaded.leftOut !== undefined && (
        <p className="small quiet row">
          {megabytes(loaded.leftOut)} of earlier text hidden.{" "}
          <button className="button" onClick={loaded.showAll}>
            Show all
          </button>
        </p>
      )}
      <Framed store={store} shape={shape} run={run} isGrowing={isGrowing || loaded.isPart === true} allRows={allRows} />
    </>
  );
});

interface ShapeProps {
  store: NotebookStore;
  shape: Shape;
  run: Execution;
  isGrowing: boolean;
  allRows: AllRows | undefined;
}

/** Taller outputs are cut until the user expands them. */
const TALL_PX = 720;
const CAPPED: Shape["kind"][] = ["frame", "widget", "html", "markdown", "json", "latex"];

function Framed({ store, shape, run, isGrowing, allRows }: ShapeProps) {
  const [isFolded, setFolded] = useState(false);
  const [isWrapped, setWrapped] = useState(true);
  const [isWhole, setWhole] = useState(false);
  const [isTall, setTall] = useState(false);
  const inside = useRef<HTMLDivElement>(null);
  const isText = shape.kind === "text" || shape.kind === "error";
  const isCapped = CAPPED.includes(shape.kind);
  useEffect(() => {
    const node = inside.current;
    if (!node || (!isCapped && !isText)) return;
    const measure = () => {
      const box = isText ? node.querySelector("pre, .lines") : node;
      setTall(box !== null && (isText ? box.scrollHeight > 500 : box.scrollHeight > TALL_PX));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(node.firstElementChild ?? node);
    return () => observer.disconnect();
  }, [isCapped, isText, isFolded]);
  const source = sourceOf(shape);
  return (
    <div className={`output is-${shape.kind.replace(" ", "-")}`} tabIndex={-1}>
      <div className="tools">
        {isTall && !isFolded && (
          <Tool label={isWhole ? "Show less" : "Show all"} onClick={() => setWhole(!isWhole)}>
            {isWhole ? <Minimize2 size={14} /> : <Maximize2 size={14} />}
          </Tool>
        )}
        {shape.kind === "text" && !isFolded && (
          <Tool label="Wrap long lines" isPressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
            <WrapText size={14} />
          </Tool>
        )}
        <Tool label="Copy output" onClick={() => void copy(shape)}>
          <Copy size={14} />
        </Tool>
        {source && (
          <a className="button bare tiny" href={source.href} download={source.name} aria-label="Save" title="Save">
            <Download size={14} />
          </a>
        )}
        <Tool label={isFolded ? "Expand output" : "Collapse output"} isPressed={isFolded} onClick={() => setFolded(!isFolded)}>
          {isFolded ? <ChevronRight size={14} /> : <ChevronDown size={14} />}
        </Tool>
      </div>
      {isFolded ? (
        <button className="folded quiet small" onClick={() => setFolded(false)}>
          {summary(shape)}
        </button>
      ) : (
        <div ref={inside} className={isCapped && isTall && !isWhole ? "inside capped" : "inside"}>
          <Suspense fallback={<div className="shape" aria-busy="true" />}>
            <View {...{ store, shape, run, isGrowing, allRows, isWrapped, isWhole }} />
          </Suspense>
        </div>
      )}
      {isCapped && isTall && !isFolded && !isWhole && (
        <button className="button bare small more" onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </div>
  );
}

type ViewProps = ShapeProps & { isWrapped: boolean; isWhole: boolean };

function View({ store, shape, run, isGrowing, allRows, isWrapped, isWhole }: ViewProps) {
  const kernelSession = run.kernel_session ?? undefined;
  const of = run.subject.kind === "cell" ? { of: { store, cell: run.subject.cell_id, isOutput: true } } : undefined;
  const rest = useMemo(() => allRows && { store, allRows }, [store, allRows]);
  switch (shape.kind) {
    case "text":
      return <Text text={shape.text} stream={shape.stream} {...{ isWrapped, isWhole, isGrowing }} />;
    case "error":
      return <ErrorView store={store} run={run} name={shape.name} value={shape.value} traceback={shape.traceback} />;
    case "image":
      return <Picture source={shape.source} alt={shape.alt} width={shape.width} />;
    case "markdown":
      return (
        <div className="rendered">
          <Rendered text={shape.text} {...of} />
        </div>
      );
    case "latex": {
      const formula = bareLatex(shape.text);
      return (
        <div className="rendered">
          <Rendered text={formula === undefined ? shape.text : `$$${formula}$$`} {...of} />
        </div>
      );
    }
    case "html":
      return <PrintedTable html={shape.html} />;
    case "table": {
      const { resource, text } = shape;
      return <DataTable {...{ store, kernelSession, resource, text }} {...(rest && { rest })} />;
    }
    case "data frame": {
      const { json, arrow, text } = shape;
      if (arrow === undefined) return <DataTable {...{ store, kernelSession, json, text }} />;
      return <ArrowTable {...{ store, kernelSession, arrow, text }} />;
    }
    case "frame":
    case "widget":
      return <InFrame store={store} run={run} shape={shape} />;
    case "json":
      return <JsonTree value={shape.value} />;
    case "file":
      return <p className="quiet small">{shape.text || shape.type}. Save it to open it.</p>;
    case "nothing":
      return null;
    case "unknown":
      return <p className="quiet small">Can’t show this output ({shape.types.join(", ") || "empty"}).</p>;
  }
}

/** Output in the sandboxed frame, without the 300 ms for which React would show a fallback. */
function InFrame({ store, run, shape }: FrameOutputProps) {
  const FrameOutput = frameOutput.usePart();
  if (!FrameOutput) return <div className="shape" aria-busy="true" />;
  return <FrameOutput store={store} run={run} shape={shape} />;
}

interface ToolProps {
  label: string;
  isPressed?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Tool({ label, isPressed, onClick, children }: ToolProps) {
  return (
    <button className="button bare tiny" aria-label={label} title={label} aria-pressed={isPressed} onClick={onClick}>
      {children}
    </button>
  );
}

function sourceOf(shape: Shape): { href: string; name: string } | undefined {
  if (shape.kind !== "image" && shape.kind !== "file") return undefined;
  const ending = shape.type.split("/")[1]?.replace("jpeg", "jpg").replace("svg+xml", "svg") ?? "bin";
  return { href: shape.source, name: `output.${ending}` };
}

function summary(shape: Shape): string {
  if (shape.kind === "text") return `Text, ${settledLines(shape.text).length.toLocaleString()} lines`;
  if (shape.kind === "error") return `${shape.name}: ${withoutEscapes(shape.value)}`;
  return (
    { image: "Image", html: "Table", table: "Table", frame: "Chart", widget: "Widget", json: "JSON" }[shape.kind as string] ??
    "Output"
  );
}

async function copy(shape: Shape): Promise<void> {
  if (shape.kind === "image" && shape.type === "image/png") {
    const blob = new Blob([Uint8Array.from(atob(shape.source.split(",")[1] ?? ""), (each) => each.charCodeAt(0))], {
      type: "image/png",
    });
    return navigator.clipboard?.write([new ClipboardItem({ "image/png": blob })]);
  }
  return navigator.clipboard?.writeText(textOf(shape));
}

function textOf(shape: Shape): string {
  if (shape.kind === "text") return withoutEscapes(settledLines(shape.text).join("\n"));
  if (shape.kind === "error") return withoutEscapes(shape.traceback) || `${shape.name}: ${shape.value}`;
  if (shape.kind === "json") return exactJson(shape.value, 2);
  return "text" in shape ? shape.text : "";
}
