// Routes of the page in the address's fragment: `#/` home, `#/n/NOTEBOOK`, `#/n/NOTEBOOK/CELL`, `#/n/NOTEBOOK?assistant`,
// `#/n/NOTEBOOK/CELL?run=EXECUTION`, `#/n/NOTEBOOK?at=VERSION`, `#/administration`, `#/administration/SECTION`.
import { useSyncExternalStore } from "react";

export type Route =
  | { name: "home" }
  | { name: "administration"; section: string | undefined }
  | { name: "notebook"; id: string; cell: string | undefined; panel?: "assistant"; run?: string; at?: number };

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.split("?");
  const [, place, id, cell] = path.split("/");
  const run = /^run=([\w-]+)$/.exec(query)?.[1];
  const at = Number(/^at=(\d{1,15})$/.exec(query)?.[1] ?? 0);
  if (place === "administration") return { name: "administration", section: id || undefined };
  if (place !== "n" || !id) return { name: "home" };
  return { name: "notebook", id, cell, ...(query === "assistant" && { panel: query }), ...(run && { run }), ...(at > 0 && { at }) };
}

export function go(route: Route): void {
  location.hash = pathOf(route);
}

function pathOf(route: Route): string {
  if (route.name === "home") return "/";
  if (route.name === "administration") return `/administration${route.section ? `/${route.section}` : ""}`;
  return `/n/${route.id}${route.cell ? `/${route.cell}` : ""}`;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(
    (changed) => {
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    },
    () => location.hash,
  );
  return routeOf(hash);
}
