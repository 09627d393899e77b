// Name of an owner of the notebook, whom a guest asks for another link.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";

/** Asked while the guest's link still works; undefined for others, and while unknown. */
export function useOwner(store: NotebookStore): string | undefined {
  const [name, setName] = useState<string>();
  const isGuest = store.session.me.actor.kind === "guest";
  const subject = store.document.access.find(({ role, subject: { kind } }) => role === "owner" && kind === "user")?.subject;
  const owner = isGuest && subject?.kind === "user" ? subject.id : undefined;
  useEffect(() => {
    if (owner === undefined) return;
    store.session.nameOf(owner).then(setName, () => undefined);
  }, [store, owner]);
  return name;
}
