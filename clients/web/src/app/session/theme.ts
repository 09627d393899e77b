// Theme (light, dark, system), stored in this browser.
import { useSyncExternalStore } from "react";

const KEY = "notarium.theme";
const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function theme(): Theme {
  return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";
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
  localStorage.setItem(KEY, next);
  applyTheme();
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, theme);
}

const listeners = new Set<() => void>();

function isDark(): boolean {
  const chosen = theme();
  return chosen === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

/** Hook: true if the current theme is dark. */
export function useIsDark(): boolean {
  return useSyncExternalStore((listener) => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    listeners.add(listener);
    system.addEventListener("change", listener);
    return () => {
      listeners.delete(listener);
      system.removeEventListener("change", listener);
    };
  }, isDark);
}
