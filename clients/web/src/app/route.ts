// Places of the page, in the address's fragment: `#/` home, `#/n/NOTEBOOK`, `#/n/NOTEBOOK/CELL`, `#/n/NOTEBOOK?assistant`.
import { useSyncExternalStore } from "react";

export type Route = { name: "home" } | { name: "notebook"; id: string; cell: string | undefined; panel?: "assistant" };

export function routeOf(hash: string): Route {
  const [path = "", panel] = hash.split("?");
  const [, place, id, cell] = path.split("/");
  if (place !== "n" || !id) return { name: "home" };
  return { name: "notebook", id, cell, ...(panel === "assistant" && { panel }) };
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
