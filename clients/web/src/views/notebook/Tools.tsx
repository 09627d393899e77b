// Tools over a notebook: find, outline, settings, schedules and the runs of a cell. Lazy: each loads when it opens.
import { Suspense, useEffect, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { page } from "../../commands/table.ts";
import { Boundary } from "../../ui/Broken.tsx";
import { part } from "../../ui/parts.ts";
import type { Opening } from "../panels/Find.tsx";

const Find = part(() => import("../panels/Find.tsx"));
const Outline = part(() => import("../panels/Outline.tsx"));
const Runs = part(() => import("../panels/history/Runs.tsx"));
const Schedules = part(() => import("../panels/schedules/Schedules.tsx"));
const Settings = part(() => import("../account/Settings.tsx"));

/** Same breakpoint as in media.css. */
const PHONE = "(max-width: 720px)";

export function Tools({ store }: { store: NotebookStore }) {
  useTopics(store, "panel");
  const [open, setOpen] = useState<"settings" | "schedules" | { cell: string; run?: string }>();
  // A new object per opening, so that Find takes the current selection.
  const [find, setFind] = useState<Opening>();
  useEffect(() => {
    Object.assign(page, {
      find: () => {
        // Phone: the panel would cover the matches.
        if (store.panel !== undefined && matchMedia(PHONE).matches) store.show(store.panel);
        const { isEditing, current, marked } = store;
        store.focus.open();
        setFind({ text: markedText(), from: isEditing && marked?.cell === current ? marked : undefined });
      },
      settings: () => {
        store.focus.open();
        setOpen("settings");
      },
      schedules: () => {
        store.focus.open();
        setOpen("schedules");
      },
      runs: (of?: { cell: string; run: string }) => {
        if (of) setOpen(of);
        else if (store.current !== undefined) setOpen({ cell: store.current });
      },
    });
  }, [store]);
  useEffect(() => void (find && store.select(store.current)), [find, store]);
  const close = () => setOpen(undefined);
  return (
    <Suspense>
      {find && (
        <Boundary what="Find" close={() => setFind(undefined)}>
          <Find key={find.text} store={store} opening={find} close={() => setFind(undefined)} />
        </Boundary>
      )}
      {store.panel === "outline" && (
        <Boundary what="The outline" close={() => store.show("outline")}>
          <Outline store={store} />
        </Boundary>
      )}
      {open && (
        <Boundary key={typeof open === "object" ? open.cell : open} what="This dialog" close={close}>
          {open === "schedules" && <Schedules store={store} close={close} />}
          {open === "settings" && <Settings store={store} close={close} />}
          {typeof open === "object" && <Runs store={store} cell={open.cell} run={open.run} close={close} />}
        </Boundary>
      )}
    </Suspense>
  );
}

/** Selected text on one line; a longer selection is no search term. */
function markedText(): string {
  const text = getSelection()?.toString() ?? "";
  return text.length <= 200 && !text.includes("\n") ? text : "";
}
