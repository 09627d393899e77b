// How a person wants the editor: remembered on this machine.
import { useSyncExternalStore } from "react";

export interface Settings {
  vim: boolean;
  wrap: boolean;
  lineNumbers: boolean;
  closeBrackets: boolean;
  indent: "2" | "4" | "8" | "tab";
  fontSize: number;
  /** Of the column of cells: to read, wider, all that there is. */
  width: "text" | "wide" | "full";
  /** As the system asks, or more in any case. */
  contrast: "system" | "more";
  /** Mistakes in Python are marked while one writes. */
  diagnostics: boolean;
  /** By the system's notifications, when the page is not looked at. */
  notify: boolean;
}

export type Flag = "vim" | "wrap" | "lineNumbers" | "closeBrackets" | "diagnostics" | "notify";

export const DEFAULTS: Settings = {
  ...{ vim: false, wrap: false, lineNumbers: false, closeBrackets: true, indent: "4", fontSize: 13.5 },
  ...{ width: "text", contrast: "system", diagnostics: true, notify: true },
};
export const FONT_SIZES = { least: 10, most: 24 };
const KEY = "notarium.editor";
const MORE_CONTRAST = "(prefers-contrast: more)";
const listeners = new Set<() => void>();
let current: Settings | undefined;

/** What was kept, as far as it makes sense. */
export function settingsFrom(text: string | null | undefined): Settings {
  let kept: Partial<Record<keyof Settings, unknown>> = {};
  try {
    kept = (JSON.parse(text ?? "{}") ?? {}) as typeof kept;
  } catch {
    // Somebody else's bytes: the defaults stand.
  }
  const flag = (name: Flag) => (typeof kept[name] === "boolean" ? kept[name] : DEFAULTS[name]);
  const size = Number(kept.fontSize);
  return {
    ...{ vim: flag("vim"), wrap: flag("wrap"), lineNumbers: flag("lineNumbers"), closeBrackets: flag("closeBrackets") },
    ...{ diagnostics: flag("diagnostics"), notify: flag("notify") },
    indent: (["2", "4", "8", "tab"] as const).find((each) => each === kept.indent) ?? DEFAULTS.indent,
    width: (["text", "wide", "full"] as const).find((each) => each === kept.width) ?? DEFAULTS.width,
    contrast: (["system", "more"] as const).find((each) => each === kept.contrast) ?? DEFAULTS.contrast,
    fontSize: size >= FONT_SIZES.least && size <= FONT_SIZES.most ? size : DEFAULTS.fontSize,
  };
}

/** Another object after each change. */
export function settings(): Settings {
  return (current ??= settingsFrom(globalThis.localStorage?.getItem(KEY)));
}

export function change(part: Partial<Settings>): void {
  current = settingsFrom(JSON.stringify({ ...settings(), ...part }));
  localStorage.setItem(KEY, JSON.stringify(current));
  applySettings();
  for (const listener of listeners) listener();
}

/** What styles alone do: the size of the code, its wrapping where nobody edits, the page's width and contrast. */
export function applySettings(): void {
  const { style, dataset } = document.documentElement;
  const { fontSize, wrap, lineNumbers, width, contrast } = settings();
  const asked = matchMedia(MORE_CONTRAST);
  asked.onchange = applySettings;
  dataset.contrast = contrast === "more" || asked.matches ? "more" : "usual";
  dataset.width = width;
  style.setProperty("--code-size", `${fontSize}px`);
  style.setProperty("--code-line", `${Math.round(fontSize * 1.55)}px`);
  dataset.wrap = String(wrap);
  dataset.lineNumbers = String(lineNumbers);
}

export function useSettings(): Settings {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, settings);
}
