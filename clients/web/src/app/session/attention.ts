// Attention while the tab is hidden: a mark on its icon, and notifications of ended runs and of notices.
import type { InboxNotice } from "../../protocol/rest.ts";
import { settings } from "./settings.ts";

export type Mark = "running" | "done" | "failed" | "asks" | undefined;

const COLOURS = { running: "#3358d4", done: "#1f7a50", failed: "#c62a2f", asks: "#c07a00" };
/** Time that the tab must be visible before a result counts as seen. */
const SEEN_MS = 3_000;
/** Shorter runs send no notification. */
const LONG_MS = 10_000;

let plain: string | undefined;

function icon(): HTMLLinkElement | null {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]');
}

export function show(mark: Mark): void {
  const link = icon();
  if (!link) return;
  plain ??= link.href;
  link.href = mark === undefined ? plain : `data:image/svg+xml,${encodeURIComponent(drawn(COLOURS[mark]))}`;
}

function drawn(colour: string): string {
  const page =
    '<rect x="4" y="3" width="24" height="26" rx="5" fill="#3358d4"/><path d="M10 11h12M10 16h12M10 21h7" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${page}<circle cx="24" cy="24" r="7.5" fill="${colour}" stroke="#fff" stroke-width="2"/></svg>`;
}

/** Next mark of the icon; a result stays until it is seen. */
export function nextMark(before: Mark, now: { isRunning: boolean; failed: number; asks: boolean }): Mark {
  if (now.asks) return "asks";
  if (now.isRunning) return "running";
  if (before === "running" || before === "asks") return now.failed > 0 ? "failed" : "done";
  return before;
}

/** Calls `seen` after the tab has been visible for three seconds; returns a function that cancels. */
export function whenSeen(seen: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(seen, SEEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

export async function allowNotifications(): Promise<boolean> {
  return "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
}

/** True if the browser permits notifications and the person enabled them in Settings. */
export function mayNotify(): boolean {
  return settings().notify && "Notification" in globalThis && Notification.permission === "granted";
}

export function notify(title: string, text: string, tookMs: number): void {
  if (!document.hidden || tookMs < LONG_MS || !mayNotify()) return;
  const shown = new Notification(title, { body: text, tag: "notarium-runs" });
  shown.onclick = () => window.focus();
}

/** Shows a notice as a notification of the system, if the tab is hidden. */
export function notifyOf({ id, text, notebook, link }: InboxNotice): void {
  if (!document.hidden || !mayNotify()) return;
  const shown = new Notification(notebook?.title ?? "Notarium", { body: text, tag: id });
  shown.onclick = () => {
    window.focus();
    if (link) location.hash = link.slice(link.indexOf("#") + 1);
  };
}
