// Text of many lines, of which those in sight are laid out. Loaded at need.
import { useEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { Ansi, type LinesProps } from "./Text.tsx";

const NEAR_PX = 120;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

export default function LongText({ lines, className, isGrowing }: LinesProps) {
  const list = useRef<VListHandle>(null);
  const isAtEnd = useRef(isGrowing);
  // Where it is tells nothing while it grows: it is longer again when the scrolling to its end is told. Going up does.
  const leave = () => void (isAtEnd.current = false);
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollToIndex(lines.length - 1, { align: "end" });
  }, [lines]);
  return (
    <div className={className}>
      <p className="quiet small">{lines.length.toLocaleString()} lines</p>
      <VList
        ref={list}
        className="lines"
        style={{ height: "var(--lines)" }}
        data={lines}
        tabIndex={0}
        role="region"
        aria-label={`Text, ${lines.length.toLocaleString()} lines`}
        onScroll={(offset) => {
          const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
          if (offset + viewportSize > scrollSize - NEAR_PX) isAtEnd.current = true;
        }}
        onWheel={({ deltaY }) => deltaY < 0 && leave()}
        onTouchMove={leave}
        onKeyDown={({ key }) => UPWARDS.has(key) && leave()}
        // The scrollbar is no line.
        onPointerDown={({ target, currentTarget }) => target === currentTarget && leave()}
      >
        {(line, index) => (
          <pre key={index}>
            <Ansi text={line === "" ? " " : line} />
          </pre>
        )}
      </VList>
    </div>
  );
}
