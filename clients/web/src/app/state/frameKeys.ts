// Keyboard focus of sandboxed frames: a frame keeps it after a press inside it, or when the person hands it over. If an output
// takes the focus by itself, the page returns it to the previous element. The guard in `public/frame.html` keeps the keys
// pressed meanwhile from the output; the page replays them.
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { GIVE_KEYS } from "./focus.ts";

/** The guard's message about a press arrives within this time after the focus. */
const GRACE_MS = 80;
const PRESS_MS = 1_000;
/** An output that takes the focus this often within TAKES_MS is no longer shown. */
const MOST_TAKES = 3;
const TAKES_MS = 10_000;
/** A frame that does not report the loss of the focus is removed after this time. */
const LEAVE_MS = 3_000;
/** Timeout for the page's keys, which wait for keys still in a frame. */
const HOLD_MS = 1_000;
/** Announces to focus.ts that the focus change is intended. */
const BACK = "notarium-keys-back";

// --- Focus outside of frames ---

let last: HTMLElement | undefined;

const isFrame = (element: Element | null) => element instanceof HTMLIFrameElement;

if (typeof document !== "undefined") {
  addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && !isFrame(target)) last = target;
  });
  // While the focus moves to a frame, the active element may briefly be the body, so the check waits.
  addEventListener("focusout", () =>
    setTimeout(() => {
      if (document.activeElement === document.body && document.hasFocus()) last = undefined;
    }, GRACE_MS),
  );
}

function giveBack(frame: HTMLIFrameElement): void {
  if (document.activeElement !== frame) return;
  awaitKeys(frame);
  dispatchEvent(new Event(BACK));
  if (last?.isConnected) last.focus({ preventScroll: true });
  if (document.activeElement !== frame) return;
  frame.blur();
  window.focus();
}

/** Returns the focus to the page after a frame was removed that may have had it. */
function comeBack(): void {
  if (isFrame(document.activeElement)) return;
  dispatchEvent(new Event(BACK));
  window.focus();
  if (document.activeElement === document.body && last?.isConnected) last.focus({ preventScroll: true });
}

// --- Keys that the guard kept ---

interface Pressed {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

/** Parses the guard's message; values of other types are rejected. */
export function pressedKey(data: unknown): Pressed | undefined {
  const { key, code, ctrlKey, altKey, metaKey, shiftKey } = (data ?? {}) as Record<string, unknown>;
  if (typeof key !== "string" || typeof code !== "string" || key.length > 20) return undefined;
  return { key, code, ctrlKey: !!ctrlKey, altKey: !!altKey, metaKey: !!metaKey, shiftKey: !!shiftKey };
}

/** Frames that had the focus, until their guards confirm that no more keys follow. */
const awaited = new Map<HTMLIFrameElement, ReturnType<typeof setTimeout>>();
/** Keys that the page received meanwhile; replayed after those of the frames. */
let held: Pressed[] = [];

function awaitKeys(frame: HTMLIFrameElement): void {
  clearTimeout(awaited.get(frame));
  awaited.set(
    frame,
    setTimeout(() => keysCame(frame), HOLD_MS),
  );
}

function keysCame(frame: HTMLIFrameElement): void {
  clearTimeout(awaited.get(frame));
  if (!awaited.delete(frame) || awaited.size > 0) return;
  const keys = held;
  held = [];
  for (const key of keys) replay(key);
}

const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]);

function hold(event: KeyboardEvent): void {
  const { isTrusted, isComposing, key } = event;
  const pressed = pressedKey(event);
  if (!isTrusted || isComposing || awaited.size === 0 || MODIFIERS.has(key) || !pressed) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  held.push(pressed);
}

if (typeof document !== "undefined") addEventListener("keydown", hold, true);

/** Dispatches the key at the focused element, and inserts its character unless a handler prevented that. */
function replay(pressed: Pressed): void {
  if (document.activeElement === document.body && last?.isConnected) last.focus({ preventScroll: true });
  const target = document.activeElement;
  if (!target || target === document.body || isFrame(target)) return;
  const event = new KeyboardEvent("keydown", { ...pressed, bubbles: true, cancelable: true });
  const isText = pressed.key.length === 1 && !pressed.ctrlKey && !pressed.metaKey && !pressed.altKey;
  // `execCommand` is the only way to type into any field with undo and events.
  if (target.dispatchEvent(event) && isText) document.execCommand("insertText", false, pressed.key);
}

// --- One frame ---

export interface FrameKeys {
  hasKeys: boolean;
  /** The output took the focus repeatedly and is not shown. */
  isStopped: boolean;
  again: () => void;
  /** Hands the guard its port; call when the frame has loaded. */
  connect: (target: Window) => void;
}

export function useFrameKeys(frame: RefObject<HTMLIFrameElement | null>): FrameKeys {
  const [hasKeys, setHasKeys] = useState(false);
  const [isStopped, setStopped] = useState(false);
  const port = useRef<MessagePort>(undefined);
  const allowedUntil = useRef(0);
  const takes = useRef<number[]>([]);
  /** Timer that stops the output. */
  const stopping = useRef<ReturnType<typeof setTimeout>>(undefined);
  const grant = useCallback(() => {
    port.current?.postMessage("granted");
    setHasKeys(true);
  }, []);
  const stop = useCallback(() => {
    clearTimeout(stopping.current);
    stopping.current = undefined;
    flushSync(() => setStopped(true));
    comeBack();
    // The frame may have taken the focus while it was removed: no part of the page has the focus then.
    addEventListener("blur", comeBack);
    setTimeout(() => removeEventListener("blur", comeBack), LEAVE_MS);
  }, []);
  const refuse = useCallback(() => {
    const element = frame.current;
    if (!element || document.activeElement !== element) return;
    port.current?.postMessage("refused");
    const now = performance.now();
    if (stopping.current !== undefined) return giveBack(element);
    takes.current = [...takes.current.filter((at) => at > now - TAKES_MS), now];
    setHasKeys(false);
    // Removing the frame now would lose keys on their way to it, so it is removed after it loses the focus.
    if (takes.current.length >= MOST_TAKES) stopping.current = setTimeout(stop, LEAVE_MS);
    giveBack(element);
  }, [frame, stop]);
  useEffect(() => {
    const element = frame.current;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const isHere = () => document.activeElement === element && element !== null;
    const look = () => {
      clearTimeout(waiting);
      if (!isHere()) setHasKeys(false);
      else if (performance.now() < allowedUntil.current) grant();
      else waiting = setTimeout(() => (performance.now() < allowedUntil.current ? grant() : refuse()), GRACE_MS);
    };
    const back = () => {
      clearTimeout(waiting);
      // The window regained the focus, and the frame keeps what the person gave it.
      if (!isHere()) setHasKeys(false);
    };
    const give = () => {
      allowedUntil.current = performance.now() + PRESS_MS;
      element?.focus();
      grant();
    };
    addEventListener("blur", look);
    addEventListener("focus", back);
    // The window's event may arrive before the focus has moved.
    addEventListener("focusin", back);
    element?.addEventListener(GIVE_KEYS, give);
    return () => {
      clearTimeout(waiting);
      clearTimeout(stopping.current);
      stopping.current = undefined;
      removeEventListener("blur", look);
      removeEventListener("focus", back);
      removeEventListener("focusin", back);
      element?.removeEventListener(GIVE_KEYS, give);
    };
  }, [frame, grant, refuse, isStopped]);
  const connect = useCallback(
    (target: Window) => {
      const { port1, port2 } = new MessageChannel();
      port.current?.close();
      port.current = port1;
      port1.onmessage = ({ data }: MessageEvent<unknown>) => {
        if ((data as { pressed?: unknown } | null)?.pressed === true) {
          allowedUntil.current = performance.now() + PRESS_MS;
          if (document.activeElement === frame.current) grant();
          return;
        }
        if ((data as { left?: unknown } | null)?.left === true) {
          if (frame.current) keysCame(frame.current);
          if (stopping.current !== undefined && document.activeElement !== frame.current) stop();
          return;
        }
        const pressed = pressedKey(data);
        if (!pressed) return;
        refuse();
        replay(pressed);
      };
      target.postMessage("keys", "*", [port2]);
    },
    [frame, grant, refuse, stop],
  );
  const again = useCallback(() => {
    takes.current = [];
    setStopped(false);
  }, []);
  return { hasKeys, isStopped, again, connect };
}
