// Parts of the page that come after it: at once when somebody wants one, else while the browser has nothing to do, so that they
// are there when the server is not. What is heavy and seldom (charts, formulas) is no part in this sense.
import { type ComponentProps, type ComponentType, createElement, lazy, useEffect, useState } from "react";

type Load<T extends ComponentType<any>> = () => Promise<{ default: T }>;

interface Kept<T extends ComponentType<any>> {
  now?: T;
  load: Load<T>;
}

const RETRY_MS = 3_000;
const all: (() => Promise<unknown>)[] = [];

function kept<T extends ComponentType<any>>(load: Load<T>): Kept<T> {
  const own: Kept<T> = {
    load: async () => {
      const module = await load();
      own.now = module.default;
      return module;
    },
  };
  all.push(own.load);
  return own;
}

/** For `Suspense`. React shows a fallback for 300 ms at least: what is there already does without. */
export function part<T extends ComponentType<any>>(load: Load<T>) {
  const own = kept(load);
  const Later = lazy(() => sooner(own.load));
  const Part = (props: ComponentProps<T>) => {
    // The same as long as it stands there.
    const [Shown] = useState<ComponentType<any>>(() => own.now ?? Later);
    return createElement(Shown, props);
  };
  return Object.assign(Part, { load: () => ahead(own) });
}

function ahead({ load }: Kept<any>): void {
  void load().catch(() => undefined);
}

/** Where one waits to type: nothing as long as it is not there, and then at once, without React's 300 ms. */
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

/** React asks once: what fails without a server is tried until there is one. */
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

/** One after the other; what they bring with them too. */
export async function loadParts(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  for (const load of all) {
    await quiet();
    await load().catch(() => undefined);
  }
}

const QUIET_MS = 2_000;

function quiet(): Promise<unknown> {
  return new Promise((resolve) =>
    "requestIdleCallback" in globalThis ? requestIdleCallback(resolve, { timeout: QUIET_MS }) : setTimeout(resolve, 50),
  );
}
