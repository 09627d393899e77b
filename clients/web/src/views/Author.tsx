// The name of who did something: events have ids alone.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../app/store.ts";
import { kindOf } from "../app/words.ts";
import type { Actor } from "../protocol/messages.ts";

/** “You”, a name, or what somebody is while the name is asked for. */
export function useName(store: NotebookStore, actor: Actor | undefined): string {
  const id = actor?.kind === "user" ? actor.id : actor?.kind === "assistant" ? actor.for_user : undefined;
  const [name, setName] = useState<string>();
  useEffect(() => {
    setName(undefined);
    if (id) store.session.nameOf(id).then(setName, () => undefined);
  }, [store, id]);
  const isMe = id !== undefined && id === store.session.userId;
  if (!actor) return "";
  if (actor.kind === "assistant") return isMe ? "Your assistant" : name ? `${name}'s assistant` : "The assistant";
  return isMe ? "You" : (name ?? kindOf(actor));
}

export function Author({ store, actor }: { store: NotebookStore; actor: Actor }) {
  return <strong>{useName(store, actor)}</strong>;
}
