// Tools of the hovered or else the focused cell: actions, menu and buttons for new cells. One instance, rendered into that cell
// by a portal. Lazy: loads after the first cells have painted.
import { Menu } from "@base-ui/react/menu";
import { ArrowDown, ArrowUp, Code, EllipsisVertical, Trash2, Type } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { keysOf } from "../../commands/keys.ts";
import { type Action, actions, isAllowed, keyLabel } from "../../commands/table.ts";
import { MenuPopup } from "../../ui/MenuPopup.tsx";

const byId = new Map(actions.map((action) => [action.id, action]));
const named = (...ids: string[]) => ids.flatMap((id) => byId.get(id) ?? []);

/** Menu actions, in groups. */
const GROUPS: Action[][] = [
  named("run", "run-above", "run-below"),
  named("insert-above", "insert-below", "insert-prompt"),
  named("copy", "cut", "paste", "duplicate", "split", "merge"),
  named("type-code", "type-markdown", "type-raw", "type-sql", "type-prompt"),
  named("format", "toggle-source", "toggle-outputs", "clear-outputs", "clear-all-outputs", "runs"),
  named("comment", "pin", "skip", "copy-link"),
];

export default function CellTools({ store }: { store: NotebookStore }) {
  useTopics(store, "current", "order", "access", "notebook");
  const pointed = usePointed();
  const [open, setOpen] = useState<string>();
  const [node, setNode] = useState<HTMLElement | null>(null);
  const id = open ?? pointed ?? store.current;
  // The element of a new cell exists only after the page has rendered.
  useEffect(() => void setNode(id === undefined ? null : document.getElementById(`cell-${id}`)));
  const isPhone = useIsPhone();
  if (!node?.isConnected || id === undefined || !store.document.cells.has(id)) return null;
  const act = (action: Action | undefined) => {
    if (!store.isSelected(id)) store.select(id);
    // The clicked button may be gone by now, or moved to another cell.
    node.focus({ preventScroll: true });
    action?.run(store);
  };
  const place = isPhone ? node.closest("main") : node;
  if (!place) return null;
  return createPortal(
    <>
      <div
        className={isPhone ? "cell-tools below" : "cell-tools"}
        role="toolbar"
        aria-label={`Cell ${store.document.order.indexOf(id) + 1}`}
      >
        {[
          [byId.get("move-up"), <ArrowUp size={14} key="up" />] as const,
          [byId.get("move-down"), <ArrowDown size={14} key="down" />] as const,
          [byId.get("delete"), <Trash2 size={14} key="delete" />] as const,
        ].map(
          ([action, icon]) =>
            action &&
            isAllowed(action, store) && (
              <Tool key={action.id} action={action} act={act}>
                {icon}
              </Tool>
            ),
        )}
        <CellMenu store={store} place={node.closest("main")} act={act} opened={(isOpen) => setOpen(isOpen ? id : undefined)} />
      </div>
      {store.mayEdit && !isPhone && (
        <div className="between">
          <button title="Insert code here" aria-label="Insert code below" onClick={() => store.edits.insert({ after: id })}>
            <Code size={12} aria-hidden /> Code
          </button>
          <button
            title="Insert text here"
            aria-label="Insert text below"
            onClick={() => store.edits.insert({ after: id }, "markdown")}
          >
            <Type size={12} aria-hidden /> Text
          </button>
        </div>
      )}
    </>,
    place,
  );
}

/** Same breakpoint as in media.css. */
const PHONE = "(max-width: 720px)";

function useIsPhone(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(PHONE);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(PHONE).matches,
  );
}

/** The cell under the pointer; touch has none. */
function usePointed(): string | undefined {
  const [pointed, setPointed] = useState<string>();
  useEffect(() => {
    // The pointer may have entered a cell before this component loaded.
    setPointed(document.querySelector<HTMLElement>(".cell[data-cell]:hover")?.dataset.cell);
    const over = ({ target, pointerType }: PointerEvent) => {
      if (pointerType === "touch") return;
      setPointed((target as HTMLElement).closest?.<HTMLElement>(".cell[data-cell]")?.dataset.cell);
    };
    document.addEventListener("pointerover", over);
    return () => document.removeEventListener("pointerover", over);
  }, []);
  return pointed;
}

interface ToolProps {
  action: Action;
  act: (action: Action) => void;
  children: ReactNode;
}

function keyWords(action: Action): string {
  const { keys, editKeys } = keysOf(action);
  const [press] = [...keys, ...editKeys];
  return press === undefined ? "" : keyLabel(press);
}

function Tool({ action, act, children }: ToolProps) {
  const keys = keyWords(action);
  return (
    <button
      className="button bare tiny"
      aria-label={action.title}
      title={keys === "" ? action.title : `${action.title} (${keys})`}
      onClick={() => act(action)}
    >
      {children}
    </button>
  );
}

interface MenuProps {
  store: NotebookStore;
  /** Portal target of the menu: inside a landmark, for screen readers. */
  place: HTMLElement | null;
  act: (action: Action) => void;
  opened: (isOpen: boolean) => void;
}

function CellMenu({ store, place, act, opened }: MenuProps) {
  const hasActed = useRef(false);
  const groups = GROUPS.map((group) => group.filter((action) => isAllowed(action, store))).filter((group) => group.length > 0);
  return (
    <Menu.Root
      onOpenChange={(isOpen) => {
        if (isOpen) hasActed.current = false;
        opened(isOpen);
      }}
    >
      <Menu.Trigger className="button bare tiny" aria-label="More about this cell" title="More">
        <EllipsisVertical size={14} />
      </Menu.Trigger>
      <Menu.Portal container={place}>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <MenuPopup className="cell-menu" finalFocus={() => !hasActed.current}>
            {groups.map((group, index) => (
              <Menu.Group key={group[0]?.id}>
                {index > 0 && <Menu.Separator className="separator" />}
                {group.map((action) => (
                  <Menu.Item
                    key={action.id}
                    className="item"
                    onClick={() => {
                      hasActed.current = true;
                      act(action);
                    }}
                  >
                    {action.title}
                    {keyWords(action) !== "" && <kbd>{keyWords(action)}</kbd>}
                  </Menu.Item>
                ))}
              </Menu.Group>
            ))}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
