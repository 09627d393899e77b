// Places of the page, in the address's fragment: `#/` home, `#/n/NOTEBOOK`, `#/n/NOTEBOOK/CELL`, `#/n/NOTEBOOK?assistant`,
// `#/n/NOTEBOOK/CELL?run=EXECUTION`.
import { useSyncExternalStore } from "react";

export type Route =
  { name: "home" } | { name: "notebook"; id: string; cell: string | undefined; panel?: "assistant"; run?: string };

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.split("?");
  const [, place, id, cell] = path.split("/");
  const run = /^run=([\w-]+)$/.exec(query)?.[1];
  if (place !== "n" || !id) return { name: "home" };
  return { name: "notebook", id, cell, ...(query === "assistant" && { panel: query }), ...(run && { run }) };
}

export function go(route: Route): void {
  location.hash = route.name === "home" ? "/" : `/n/${route.id}${route.cell ? `/${route.cell}` : ""}`;
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
