// Text output of programs. Follows its end only while the end is in view.
import { Suspense, memo, useLayoutEffect, useMemo, useRef } from "react";
import { Screen, joinedLines } from "../../outputs/terminal.ts";
import { type Part, parts } from "../../outputs/text.ts";
import { part } from "../../ui/parts.ts";
import { usePaper } from "./usePaper.ts";

const LongText = part(() => import("./LongText.tsx"));

/** Above this count lines are virtualised. */
const LONG_LINES = 300;
/** Distance from the end within which the view follows. */
const NEAR_PX = 120;

interface Props {
  text: string;
  stream: string;
  isWrapped: boolean;
  isWhole: boolean;
  isGrowing: boolean;
}

export function Text({ text, stream, isWrapped, isWhole, isGrowing }: Props) {
  const lines = useLines(text);
  const classes = `text ${stream} ${isWrapped ? "wrapped" : ""} ${isWhole ? "whole" : ""}`;
  // Print needs all lines, since paper does not scroll.
  const isPaper = usePaper();
  if (lines.length > LONG_LINES && !isPaper) {
    return (
      <Suspense fallback={<div className="shape" aria-busy="true" />}>
        <LongText lines={lines} className={classes} isGrowing={isGrowing} />
      </Suspense>
    );
  }
  return <ShortText lines={lines} className={classes} isGrowing={isGrowing} />;
}

export interface LinesProps {
  lines: string[];
  className: string;
  isGrowing: boolean;
}

function ShortText({ lines, className, isGrowing }: LinesProps) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(isGrowing);
  useLayoutEffect(() => {
    const node = box.current;
    if (node && isAtEnd.current) node.scrollTop = node.scrollHeight;
  }, [lines]);
  return (
    <div className={className}>
      <pre
        ref={box}
        tabIndex={lines.length > 20 ? 0 : undefined}
        onScroll={({ currentTarget: node }) => (isAtEnd.current = isNearEnd(node))}
      >
        <Ansi text={joinedLines(lines)} />
      </pre>
    </div>
  );
}

export function isNearEnd({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollTop + clientHeight > scrollHeight - NEAR_PX;
}

/** Lines of the emulated terminal. If the text has grown, only the new part is parsed. */
function useLines(text: string): string[] {
  const screen = useRef<Screen>(undefined);
  return useMemo(() => {
    if (!screen.current || !text.startsWith(screen.current.text)) screen.current = new Screen();
    const seen = screen.current.text.length;
    if (text.length > seen) screen.current.write(text.slice(seen));
    const lines = screen.current.lines();
    if (lines.length > 1 && lines.at(-1) === "") lines.pop();
    return lines;
  }, [text]);
}

export const Ansi = memo(function Ansi({ text }: { text: string }) {
  return parts(text).map((part, index) => <Coloured key={index} part={part} />);
});

function Coloured({ part: { text, className, color, background } }: { part: Part }) {
  if (!className && !color && !background) return text;
  return (
    <span className={className} style={{ ...(color && { color }), ...(background && { background }) }}>
      {text}
    </span>
  );
}
