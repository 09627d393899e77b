// Markdown as it is read: formulas by KaTeX, diagrams in frames; both come when they are needed. Loaded at the first Markdown.
import { useLayoutEffect, useMemo, useRef } from "react";
import { markdownPieces } from "../outputs/safe.ts";
import { Frame } from "./Frame.tsx";

export interface MarkdownProps {
  text: string;
  attachments?: Record<string, unknown> | null | undefined;
}

export default function Markdown({ text, attachments }: MarkdownProps) {
  const pieces = useMemo(() => markdownPieces(text, attachments), [text, attachments]);
  return pieces.map((piece, index) =>
    piece.kind === "html" ? <Html key={index} html={piece.html} /> : <Diagram key={index} text={piece.text} />,
  );
}

function Diagram({ text }: { text: string }) {
  const drawing = useMemo(() => ({ kind: "mermaid" as const, text }), [text]);
  return <Frame drawing={drawing} title={`Diagram: ${text.split("\n", 1)[0] ?? ""}`} />;
}

let setFormulas: ((places: HTMLElement[]) => void) | undefined;

function Html({ html }: { html: string }) {
  const place = useRef<HTMLDivElement>(null);
  // Before it is painted, where KaTeX is there already: text that grows would show its formulas' source at each step.
  useLayoutEffect(() => {
    const formulas = [...(place.current?.querySelectorAll<HTMLElement>(".math") ?? [])];
    if (formulas.length === 0) return;
    if (setFormulas) return setFormulas(formulas);
    void import("../outputs/katex.ts").then((katex) => {
      setFormulas = katex.setFormulas;
      setFormulas(formulas);
    });
  }, [html]);
  // React leaves the element's content alone until `html` is another.
  return useMemo(() => <div ref={place} dir="auto" dangerouslySetInnerHTML={{ __html: html }} />, [html]);
}
