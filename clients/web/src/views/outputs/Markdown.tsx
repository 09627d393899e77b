// Renders Markdown. KaTeX and diagram frames load when needed. Lazy: loads with the first Markdown.
import { useLayoutEffect, useMemo, useRef } from "react";
import { type FormulaSource, useFormulaPlace } from "../../app/state/formulas.ts";
import { type FormulaPlace, NOWHERE } from "../../outputs/equations.ts";
import { markdownPieces } from "../../outputs/safe.ts";
import { Frame } from "./Frame.tsx";

export interface MarkdownProps {
  text: string;
  attachments?: Record<string, unknown> | null | undefined;
  /** Cell of the text: its formulas use macros and references of other cells. */
  of?: FormulaSource;
  /** Macros and numbers that the formulas take over, for a text of an earlier version. */
  place?: FormulaPlace | undefined;
}

export default function Markdown({ text, attachments, of, place: given = NOWHERE }: MarkdownProps) {
  const pieces = useMemo(() => markdownPieces(text, attachments), [text, attachments]);
  const place = useFormulaPlace(of, text) ?? given;
  return pieces.map((piece, index) =>
    piece.kind === "html" ? <Html key={index} html={piece.html} place={place} /> : <Diagram key={index} text={piece.text} />,
  );
}

function Diagram({ text }: { text: string }) {
  const drawing = useMemo(() => ({ kind: "mermaid" as const, text }), [text]);
  return <Frame drawing={drawing} title={`Diagram: ${text.split("\n", 1)[0] ?? ""}`} />;
}

type SetFormulas = (typeof import("../../outputs/katex.ts"))["setFormulas"];
let setFormulas: SetFormulas | undefined;

function Html({ html, place }: { html: string; place: FormulaPlace }) {
  const root = useRef<HTMLDivElement>(null);
  // Layout effect: once KaTeX is loaded, growing text must not flash the source of its formulas.
  useLayoutEffect(() => {
    const formulas = [...(root.current?.querySelectorAll<HTMLElement>(".math") ?? [])];
    if (formulas.length === 0) return;
    if (setFormulas) return void setFormulas(formulas, place);
    void import("../../outputs/katex.ts").then((katex) => {
      setFormulas = katex.setFormulas;
      void setFormulas(formulas, place);
    });
  }, [html, place]);
  // Memoised: React replaces the content only if `html` changes.
  return useMemo(() => <div ref={root} dir="auto" dangerouslySetInnerHTML={{ __html: html }} />, [html]);
}
