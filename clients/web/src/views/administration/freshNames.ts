// Names of accounts that were created after the list of accounts was loaded.
import { useEffect } from "react";
import type { User } from "../../protocol/rest.ts";
import type { Loaded } from "./loading.tsx";

/** Loads the accounts again, once, if the ids have an unknown one. */
export function useFreshNames({ value, reload }: Loaded<User[]>, ids: readonly string[]): void {
  const known = new Set(value?.map(({ id }) => id));
  const unknown = value === undefined ? "" : [...new Set(ids)].filter((id) => !known.has(id)).join(" ");
  useEffect(() => {
    if (unknown !== "") void reload();
  }, [unknown, reload]);
}
