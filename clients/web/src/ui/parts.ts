// Lazy parts of the page: loaded when first shown, or while the browser is idle, so that they also work offline. Large, rare
// libraries (charts, formulas) are not parts.
import { type ComponentProps, type ComponentType, createElement, lazy, useEffect, useState } from "react";

type Load<T extends ComponentType<any>> = () => Promise<{ default: T }>;

interface LazyModule<T extends ComponentType<any>> {
  now?: T;
  load: Load<T>;
}

const RETRY_MS = 3_000;
const all: (() => Promise<unknown>)[] = [];

function kept<T extends ComponentType<any>>(load: Load<T>, isRare = false): LazyModule<T> {
  const own: LazyModule<T> = {
    load: async () => {
      const module = await load();
      own.now = module.default;
      return module;
    },
  };
  if (!isRare) all.push(own.load);
  return own;
}

/**
 * A lazy component for `Suspense`. React shows a fallback for at least 300 ms, so a loaded module renders directly.
 * Rare: loaded only when it is shown.
 */
export function part<T extends ComponentType<any>>(load: Load<T>, isRare = false) {
  const own = kept(load, isRare);
  const Later = lazy(() => sooner(own.load));
  const Part = (props: ComponentProps<T>) => {
    // Stable while mounted: switching the component would remount it.
    const [Shown] = useState<ComponentType<any>>(() => own.now ?? Later);
    return createElement(Shown, props);
  };
  return Object.assign(Part, { load: () => ahead(own) });
}

function ahead({ load }: LazyModule<any>): void {
  void load().catch(() => undefined);
}

/** For editors: renders nothing until loaded, then renders directly, without React's 300 ms fallback. */
export function promptPart<T extends ComponentType<any>>(load: Load<T>) {
  const own = kept(load);
  const usePart = (): T | undefined => {
    const [now, setNow] = useState<T | undefined>(() => own.now);
    useEffect(() => {
      if (now) return;
      let isGone = false;
      void sooner(own.load).then((module) => !isGone && setNow(() => module.default));
      return () => void (isGone = true);
    }, [now]);
    return now;
  };
  return { usePart, load: () => ahead(own) };
}

/** React loads a lazy module only once, so this retries until the server answers. */
async function sooner<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

let isLoading = false;

/** Preloads all parts sequentially while the browser is idle. */
export async function loadParts(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  addEventListener("keydown", () => (lastKey = performance.now()), { capture: true, passive: true });
  for (const load of all) {
    await quiet();
    await load().catch(() => undefined);
  }
}

/** Deadline of the wait for a quiet moment: a page that streams has none, and a person may type for long. */
const QUIET_MS = 15_000;
/** Idle time of a moment with no frame to paint; between two frames there are at most 16 ms, less than a part may take. */
const IDLE_MS = 25;
/** Time since the last key that counts as a pause: the next key of a word comes sooner. */
const PAUSE_MS = 1_000;

let lastKey = -Infinity;

/** Resolves when the browser has nothing to do and nobody types, so that no key and no frame waits for a part. */
async function quiet(): Promise<void> {
  if (!("requestIdleCallback" in globalThis)) return new Promise((resolve) => setTimeout(resolve, 50));
  const end = performance.now() + QUIET_MS;
  for (let left = QUIET_MS; left > 0; left = end - performance.now()) {
    const pause = Math.min(lastKey + PAUSE_MS - performance.now(), left);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const idle = await new Promise<IdleDeadline>((resolve) => requestIdleCallback(resolve, { timeout: Math.max(left, 1) }));
    if (idle.timeRemaining() >= IDLE_MS && performance.now() - lastKey >= PAUSE_MS) return;
  }
}
