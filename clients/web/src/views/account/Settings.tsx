// Settings dialog: preferences saved in this browser. Lazy: loads when it opens.
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { Dialog } from "@base-ui/react/dialog";
import { allowNotifications, mayNotify } from "../../app/session/attention.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import {
  change,
  chooseTheme,
  type Flag,
  FONT_SIZES,
  type Settings as Values,
  type Theme,
  useSettings,
  useTheme,
} from "../../app/session/settings.ts";
import { useTopics } from "../../app/state/topics.ts";
import { page } from "../../commands/table.ts";

const FLAGS: [Exclude<Flag, "notify">, string, string?][] = [
  ["lineNumbers", "Line numbers"],
  ["wrap", "Wrap long lines"],
  ["closeBrackets", "Close brackets and quotes"],
  ["diagnostics", "Mark mistakes in Python"],
  ["vim", "Vim keys", "Esc leaves a mode, Shift+Esc the cell"],
];

export default function Settings({ store, close }: { store?: NotebookStore; close: () => void }) {
  const first = useRef<HTMLSelectElement>(null);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette settings" finalFocus={false} initialFocus={first}>
          <div className="row">
            <Dialog.Title className="grow">Settings</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          <Appearance first={first} />
          <Editing />
          <Notifications />
          {store && <OfNotebook store={store} close={close} />}
          <p className="quiet small">Saved in this browser only.</p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Appearance({ first }: { first: RefObject<HTMLSelectElement | null> }) {
  const values = useSettings();
  const theme = useTheme();
  return (
    <>
      <label className="setting">
        <span className="grow">Theme</span>
        <select ref={first} value={theme} onChange={({ target }) => chooseTheme(target.value as Theme)}>
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <label className="setting">
        <span className="grow">Contrast</span>
        <select value={values.contrast} onChange={({ target }) => change({ contrast: target.value as Values["contrast"] })}>
          <option value="system">System</option>
          <option value="more">High</option>
        </select>
      </label>
      <label className="setting">
        <span className="grow">Code font size</span>
        <input
          type="range"
          min={FONT_SIZES.least}
          max={FONT_SIZES.most}
          step={0.5}
          value={values.fontSize}
          aria-valuetext={`${values.fontSize} pixels`}
          onChange={({ target }) => change({ fontSize: Number(target.value) })}
        />
        <span className="quiet small">{values.fontSize} px</span>
      </label>
      <label className="setting">
        <span className="grow">Cell width</span>
        <select value={values.width} onChange={({ target }) => change({ width: target.value as Values["width"] })}>
          <option value="text">Readable</option>
          <option value="wide">Wide</option>
          <option value="full">Full window</option>
        </select>
      </label>
    </>
  );
}

function Check({ title, checked, set }: { title: ReactNode; checked: boolean; set: (isOn: boolean) => void }) {
  return (
    <label className="setting">
      <span className="grow">{title}</span>
      <input type="checkbox" checked={checked} onChange={({ target }) => set(target.checked)} />
    </label>
  );
}

function Noted({ words, note }: { words: string; note: string }) {
  return (
    <>
      {words} <span className="quiet small">{note}</span>
    </>
  );
}

function Editing() {
  const values = useSettings();
  return (
    <>
      {FLAGS.map(([name, words, note]) => (
        <Check
          key={name}
          title={note ? <Noted words={words} note={note} /> : words}
          checked={values[name]}
          set={(isOn) => change({ [name]: isOn })}
        />
      ))}
      <label className="setting">
        <span className="grow">Indent with</span>
        <select value={values.indent} onChange={({ target }) => change({ indent: target.value as Values["indent"] })}>
          <option value="2">2 spaces</option>
          <option value="4">4 spaces</option>
          <option value="8">8 spaces</option>
          <option value="tab">Tabs</option>
        </select>
      </label>
    </>
  );
}

/** Asks the browser for notification permission on click. */
function Notifications() {
  useSettings();
  const [isBlocked, setIsBlocked] = useState(false);
  const set = async (isOn: boolean) => {
    setIsBlocked(isOn && !(await allowNotifications()));
    change({ notify: isOn });
  };
  const title = (
    <>
      Notify me when runs finish and of notices
      {isBlocked && <span className="bad small"> This browser blocks notifications for this site</span>}
    </>
  );
  return <Check title={title} checked={mayNotify()} set={(isOn) => void set(isOn)} />;
}

function OfNotebook({ store, close }: { store: NotebookStore; close: () => void }) {
  useTopics(store, "panel");
  return (
    <>
      <Check title="Show authors of lines" checked={store.authors.isShown} set={() => store.authors.toggle()} />
      <div className="setting">
        <span className="grow">Keyboard shortcuts</span>
        <button
          className="button"
          onClick={() => {
            close();
            page.keys?.();
          }}
        >
          Customize
        </button>
      </div>
    </>
  );
}
