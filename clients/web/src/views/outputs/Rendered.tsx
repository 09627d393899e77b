// Markdown renderer with plain text as the loading fallback.
import { Suspense } from "react";
import type { MarkdownProps } from "./Markdown.tsx";
import { part } from "../../ui/parts.ts";

/** Loads with the notebook, since late rendering would shift the layout. */
export const Markdown = part(() => import("./Markdown.tsx"));

export function Rendered(props: MarkdownProps) {
  return (
    <Suspense fallback={<p className="plain">{props.text}</p>}>
      <Markdown {...props} />
    </Suspense>
  );
}
