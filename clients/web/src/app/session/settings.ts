// A person's settings of the editor and the theme, stored in this browser.
import { useSyncExternalStore } from "react";

export interface Settings {
  vim: boolean;
  wrap: boolean;
  lineNumbers: boolean;
  closeBrackets: boolean;
  indent: "2" | "4" | "8" | "tab";
  fontSize: number;
  /** Width of the column of cells. */
  width: "text" | "wide" | "full";
  /** Contrast of the system's setting, or always more. */
  contrast: "system" | "more";
  /** Marks problems in Python while typing. */
  diagnostics: boolean;
  /** Notifies by the system when runs end while the page is hidden. */
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

/** Parses stored settings; invalid values become defaults. */
export function settingsFrom(text: string | null | undefined): Settings {
  let kept: Partial<Record<keyof Settings, unknown>> = {};
  try {
    kept = (JSON.parse(text ?? "{}") ?? {}) as typeof kept;
  } catch {
    // Invalid JSON: the defaults apply.
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

/** Current settings; a new object after each change. */
export function settings(): Settings {
  return (current ??= settingsFrom(globalThis.localStorage?.getItem(KEY)));
}

export function change(part: Partial<Settings>): void {
  current = settingsFrom(JSON.stringify({ ...settings(), ...part }));
  localStorage.setItem(KEY, JSON.stringify(current));
  applySettings();
  for (const listener of listeners) listener();
}

/** Applies the settings that only affect styles: code size, wrapping outside editors, page width, contrast. */
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

const THEME_KEY = "notarium.theme";
const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function theme(): Theme {
  return THEMES.find((each) => each === localStorage.getItem(THEME_KEY)) ?? "system";
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? "system";
  chooseTheme(next);
  return next;
}

export function chooseTheme(next: Theme): void {
  localStorage.setItem(THEME_KEY, next);
  applyTheme();
  for (const listener of themeListeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    themeListeners.add(listener);
    return () => void themeListeners.delete(listener);
  }, theme);
}

const themeListeners = new Set<() => void>();

function isDark(): boolean {
  const chosen = theme();
  return chosen === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

/** Hook: true if the current theme is dark. */
export function useIsDark(): boolean {
  return useSyncExternalStore((listener) => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    themeListeners.add(listener);
    system.addEventListener("change", listener);
    return () => {
      themeListeners.delete(listener);
      system.removeEventListener("change", listener);
    };
  }, isDark);
}
