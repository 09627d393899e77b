// Virtualised list for long text. Lazy: loads when needed.
import { useEffect, useLayoutEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { Ansi, type LinesProps } from "./Text.tsx";

const NEAR_PX = 120;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);
const DOWNWARDS = new Set(["ArrowDown", "PageDown", "End", " "]);

export default function LongText({ lines, className, isGrowing }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<VListHandle>(null);
  const isAtEnd = useRef(isGrowing);
  // Events of earlier scrolls to the end may still come after the person has gone up: only a way down leads to the end again.
  const isGoingDown = useRef(false);
  const goUp = () => {
    isAtEnd.current = false;
    isGoingDown.current = false;
  };
  const arrive = () => {
    const { scrollOffset = 0, scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    if (isGoingDown.current && scrollOffset + viewportSize > scrollSize - NEAR_PX) isAtEnd.current = true;
  };
  const goDown = () => {
    isGoingDown.current = true;
    arrive();
  };
  // Scrolls the element itself: the list's own way repeats the scroll while lines are measured, also against the person's wheel.
  const follow = () => {
    const view = box.current?.querySelector(".lines");
    if (view && isAtEnd.current) view.scrollTop = view.scrollHeight;
  };
  useLayoutEffect(follow, [lines]);
  useEffect(() => {
    const content = box.current?.querySelector(".lines")?.firstElementChild;
    if (!content) return;
    const measured = new ResizeObserver(follow);
    measured.observe(content);
    return () => measured.disconnect();
  }, []);
  return (
    <div ref={box} className={className}>
      <p className="quiet small">{lines.length.toLocaleString()} lines</p>
      <VList
        ref={list}
        className="lines"
        style={{ height: "var(--lines)" }}
        data={lines}
        tabIndex={0}
        role="region"
        aria-label={`Text, ${lines.length.toLocaleString()} lines`}
        onScroll={arrive}
        onWheel={({ deltaY }) => (deltaY < 0 ? goUp() : goDown())}
        onTouchMove={goUp}
        onTouchEnd={goDown}
        onKeyDown={({ key }) => (UPWARDS.has(key) ? goUp() : DOWNWARDS.has(key) && goDown())}
        // Target is the list itself: the pointer is on the scrollbar, not on a line.
        onPointerDown={({ target, currentTarget }) => target === currentTarget && goUp()}
        onPointerUp={goDown}
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
