// Markdown, as its text until what renders it is there.
import { Suspense } from "react";
import type { MarkdownProps } from "./Markdown.tsx";
import { part } from "../ui/parts.ts";

/** Loaded with the notebook: text that is rendered a moment later moves what one reads. */
export const Markdown = part(() => import("./Markdown.tsx"));

export function Rendered(props: MarkdownProps) {
  return (
    <Suspense fallback={<p className="plain">{props.text}</p>}>
      <Markdown {...props} />
    </Suspense>
  );
}
