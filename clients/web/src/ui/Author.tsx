// Names of actors: events carry ids only, so the name is fetched.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../app/state/store.ts";
import { kindOf } from "../app/words/words.ts";
import type { Actor } from "../protocol/messages.ts";

/** Returns “You”, a name, or the actor's kind while the name loads. */
export function useName(store: NotebookStore, actor: Actor | undefined): string {
  const [name, setName] = useState<string>();
  const key = JSON.stringify(actor);
  useEffect(() => {
    setName(undefined);
    const asked = key && (JSON.parse(key) as Actor);
    let isGone = false;
    if (asked)
      store.session.nameOfActor(asked)?.then(
        (name) => !isGone && setName(name),
        () => undefined,
      );
    return () => void (isGone = true);
  }, [store, key]);
  if (!actor) return "";
  const isMe = store.session.isMe(actor.kind === "assistant" ? { kind: "user", id: actor.for_user } : actor);
  if (actor.kind === "assistant") return isMe ? "Your assistant" : name ? `${name}'s assistant` : "The assistant";
  return isMe ? "You" : (name ?? kindOf(actor));
}

export function Author({ store, actor }: { store: NotebookStore; actor: Actor }) {
  return <strong>{useName(store, actor)}</strong>;
}
