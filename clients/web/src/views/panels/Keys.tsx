// Dialog of keyboard shortcuts: change keys, and see duplicates.
import { Dialog } from "@base-ui/react/dialog";
import { RotateCcw } from "lucide-react";
import { type KeyboardEvent, useState, useSyncExternalStore } from "react";
import { duplicates, keysOf, onKeysChanged, ownKeys, pressOf, setKeys } from "../../commands/keys.ts";
import { foundActions } from "../../commands/search.ts";
import { type Action, actions, isMac, keyLabel } from "../../commands/table.ts";

/** Maximum time between the two presses of a sequence. */
const PAUSE_MS = 900;

export function Keys({ close }: { close: () => void }) {
  const own = useSyncExternalStore(onKeysChanged, ownKeys);
  const [text, setText] = useState("");
  const [recording, setRecording] = useState<string>();
  const twice = duplicates(actions);
  const shown = foundActions(actions, text);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette keys" finalFocus={false}>
          <div className="row">
            <Dialog.Title className="grow">Keyboard shortcuts</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          <p className="quiet small">Select a shortcut, then press the new keys. Saved in this browser only.</p>
          <input
            className="field"
            aria-label="Search commands"
            autoFocus
            placeholder="Search commands"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <ul>
            {shown.map((action) => (
              <li key={action.id}>
                <span className="grow">
                  {action.title}
                  <Duplicates action={action} twice={twice} />
                </span>
                <KeyField
                  action={action}
                  isRecording={recording === action.id}
                  record={(isOn) => setRecording(isOn ? action.id : undefined)}
                />
                {own[action.id] && (
                  <button
                    className="button bare icon"
                    aria-label={`Reset keys for “${action.title}”`}
                    title="Reset"
                    onClick={() => setKeys(action, undefined)}
                  >
                    <RotateCcw size={14} />
                  </button>
                )}
              </li>
            ))}
          </ul>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Duplicates({ action, twice }: { action: Action; twice: Map<string, string[]> }) {
  const others = Object.values(keysOf(action))
    .flat()
    .flatMap((press) => twice.get(press) ?? [])
    .filter((id) => id !== action.id);
  if (others.length === 0) return null;
  const titles = actions.filter(({ id }) => others.includes(id)).map(({ title }) => `“${title}”`);
  return <span className="small bad"> Same keys as {titles.join(", ")}</span>;
}

interface FieldProps {
  action: Action;
  isRecording: boolean;
  record: (isOn: boolean) => void;
}

function KeyField({ action, isRecording, record }: FieldProps) {
  const [first, setFirst] = useState<{ press: string; at: number }>();
  const presses = Object.values(keysOf(action)).flat();
  const hear = (event: KeyboardEvent) => {
    if (!isRecording || event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") return record(false);
    const press = pressOf(event.nativeEvent, isMac);
    if (press === undefined || event.repeat) return;
    const isSecond = first !== undefined && event.timeStamp - first.at < PAUSE_MS && !press.includes("+");
    setKeys(action, [isSecond ? `${first.press} ${press}` : press]);
    setFirst({ press, at: event.timeStamp });
    if (isSecond) record(false);
  };
  return (
    <button
      className="button bare press"
      aria-pressed={isRecording}
      aria-label={`Keys for “${action.title}”: ${presses.map(keyLabel).join(" or ") || "none"}`}
      onClick={() => record(!isRecording)}
      onKeyDown={hear}
      onBlur={() => isRecording && record(false)}
    >
      {isRecording && <span className="small">Press keys…</span>}
      {presses.length === 0 && !isRecording && <span className="quiet small">None</span>}
      {presses.map((press) => (
        <kbd key={press}>{keyLabel(press)}</kbd>
      ))}
    </button>
  );
}
