// Places of the page, in the address's fragment: `#/` home, `#/n/NOTEBOOK`, `#/n/NOTEBOOK/CELL`.
import { useSyncExternalStore } from "react";

export type Route = { name: "home" } | { name: "notebook"; id: string; cell: string | undefined };

export function routeOf(hash: string): Route {
  const [, place, id, cell] = hash.split("/");
  return place === "n" && id ? { name: "notebook", id, cell } : { name: "home" };
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
