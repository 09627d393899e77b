// Light, dark, or as the system: remembered on this machine.
const KEY = "notarium.theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

export function theme(): Theme {
  return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length] ?? "system";
  localStorage.setItem(KEY, next);
  applyTheme();
  return next;
}
