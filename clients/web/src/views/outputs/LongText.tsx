// Virtualised list for long text. Lazy: loads when needed.
import { useEffect, useLayoutEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { Ansi, type LinesProps } from "./Text.tsx";

const NEAR_PX = 120;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);
const DOWNWARDS = new Set(["ArrowDown", "PageDown", "End", " "]);

/** “leaving”: the person has gone up, and events of earlier scrolls to the end may still come. */
type Following = "end" | "leaving" | "elsewhere";

export default function LongText({ lines, className, isGrowing }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<VListHandle>(null);
  const following = useRef<Following>(isGrowing ? "end" : "elsewhere");
  const goUp = () => void (following.current = "leaving");
  const isNearEnd = () => {
    const { scrollOffset = 0, scrollSize = 0, viewportSize = 0 } = list.current ?? {};
    return scrollOffset + viewportSize > scrollSize - NEAR_PX;
  };
  const goDown = () => {
    if (following.current === "leaving") following.current = isNearEnd() ? "end" : "elsewhere";
  };
  // Scrolls the element itself: the list's own way repeats the scroll while lines are measured, also against the person's wheel.
  const follow = () => {
    const view = box.current?.querySelector(".lines");
    if (view && following.current === "end") view.scrollTop = view.scrollHeight;
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
        onScroll={() => {
          const isNear = isNearEnd();
          if (isNear && following.current === "elsewhere") following.current = "end";
          else if (!isNear && following.current === "leaving") following.current = "elsewhere";
        }}
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
