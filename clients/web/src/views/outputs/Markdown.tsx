// Renders Markdown. KaTeX and diagram frames load when needed. Lazy: loads with the first Markdown.
import { useLayoutEffect, useMemo, useRef } from "react";
import { markdownPieces } from "../../outputs/safe.ts";
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
  // Layout effect: once KaTeX is loaded, growing text must not flash the source of its formulas.
  useLayoutEffect(() => {
    const formulas = [...(place.current?.querySelectorAll<HTMLElement>(".math") ?? [])];
    if (formulas.length === 0) return;
    if (setFormulas) return setFormulas(formulas);
    void import("../../outputs/katex.ts").then((katex) => {
      setFormulas = katex.setFormulas;
      setFormulas(formulas);
    });
  }, [html]);
  // Memoised: React replaces the content only if `html` changes.
  return useMemo(() => <div ref={place} dir="auto" dangerouslySetInnerHTML={{ __html: html }} />, [html]);
}
