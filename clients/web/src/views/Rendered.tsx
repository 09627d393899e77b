// Markdown, as its text until what renders it is there.
import { Suspense, lazy } from "react";
import type { MarkdownProps } from "./Markdown.tsx";

const Markdown = lazy(() => import("./Markdown.tsx"));

export function Rendered(props: MarkdownProps) {
  return (
    <Suspense fallback={<p className="plain">{props.text}</p>}>
      <Markdown {...props} />
    </Suspense>
  );
}
