// Virtualised list for long text. Lazy: loads when needed.
import { useEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { Ansi, type LinesProps } from "./Text.tsx";

const NEAR_PX = 120;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

export default function LongText({ lines, className, isGrowing }: LinesProps) {
  const list = useRef<VListHandle>(null);
  const isAtEnd = useRef(isGrowing);
  // Content may grow before the scroll event arrives, so only an upward scroll ends following.
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
        // Target is the list itself: the pointer is on the scrollbar, not on a line.
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
