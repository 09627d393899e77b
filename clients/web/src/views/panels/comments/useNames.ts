// Names of users by id; grows as names load.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";

export function useNames(store: NotebookStore, ids: readonly string[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const key = ids.join();
  useEffect(() => {
    let isWanted = true;
    const add = (id: string) => (name: string) => isWanted && setNames((before) => new Map(before).set(id, name));
    for (const id of key === "" ? [] : key.split(",")) store.session.nameOf(id).then(add(id), () => undefined);
    return () => void (isWanted = false);
  }, [store, key]);
  return names;
}
