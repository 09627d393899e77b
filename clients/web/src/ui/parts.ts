// Parts of the page that come after it: at once when somebody wants one, else while the browser has nothing to do, so that they
// are there when the server is not. What is heavy and seldom (charts, formulas) is no part in this sense.
import { type ComponentType, type LazyExoticComponent, lazy } from "react";

type Load<T extends ComponentType<any>> = () => Promise<{ default: T }>;

const RETRY_MS = 3_000;
const all: (() => Promise<unknown>)[] = [];

export function part<T extends ComponentType<any>>(load: Load<T>): LazyExoticComponent<T> {
  all.push(load);
  return lazy(() => sooner(load));
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
