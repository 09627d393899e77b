// The command palette: every command with its shortcut, searchable.
import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { keysOf } from "../../commands/keys.ts";
import { foundActions } from "../../commands/search.ts";
import { type Action, actions, isAllowed, keyLabel } from "../../commands/table.ts";

interface Props {
  store: NotebookStore;
  mode: "palette" | "help";
  close: () => void;
}

/** Title of an action; undo and redo name the change. */
function titleOf(action: Action, store: NotebookStore): string {
  const words = action.id === "undo" || action.id === "redo" ? store.nextWords(action.id) : undefined;
  return words ?? action.title;
}

export function Palette({ store, mode, close }: Props) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = foundActions(
    actions.filter((action) => isAllowed(action, store)),
    text,
  );
  const active = found[Math.min(index, found.length - 1)];
  useEffect(() => void list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active]);

  const run = (action: Action | undefined) => {
    close();
    // Runs after the dialog has closed and focus is back in the notebook.
    if (action)
      setTimeout(() => {
        store.focus.act();
        action.run(store);
      });
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setIndex(Math.max(0, Math.min(found.length - 1, index + step)));
    else if (event.key === "Enter") run(active);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" finalFocus={false}>
          <Dialog.Title className="hidden">{mode === "help" ? "Keyboard shortcuts" : "All commands"}</Dialog.Title>
          <input
            className="field"
            autoFocus
            value={text}
            role="combobox"
            aria-expanded
            aria-controls="commands"
            aria-label="Search commands"
            aria-activedescendant={active && `command-${active.id}`}
            placeholder="What do you want to do?"
            onChange={(event) => {
              setText(event.target.value);
              setIndex(0);
            }}
            onKeyDown={press}
          />
          <ul ref={list} id="commands" role="listbox" aria-label="Commands">
            {found.map((action) => (
              <li
                key={action.id}
                id={`command-${action.id}`}
                role="option"
                aria-selected={action === active}
                onClick={() => run(action)}
              >
                <span className="grow">{titleOf(action, store)}</span>
                {Object.values(keysOf(action))
                  .flat()
                  .slice(0, 2)
                  .map((keys) => (
                    <kbd key={keys}>{keyLabel(keys)}</kbd>
                  ))}
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="quiet empty">No results.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
