// How the editor is to be: for this person, on this machine. Loaded when it is opened.
import { useRef } from "react";
import { Dialog } from "@base-ui/react/dialog";
import { FONT_SIZES, type Settings as Values, change, useSettings } from "../app/settings.ts";

const FLAGS: [keyof Values & ("vim" | "wrap" | "lineNumbers" | "closeBrackets"), string, string][] = [
  ["lineNumbers", "Line numbers", ""],
  ["wrap", "Wrap long lines", ""],
  ["closeBrackets", "Close brackets and quotes", ""],
  ["vim", "Vim keys", "Esc leaves a mode, Shift+Esc the cell"],
];

export default function Settings({ close }: { close: () => void }) {
  const values = useSettings();
  const first = useRef<HTMLInputElement>(null);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette settings" finalFocus={false} initialFocus={first}>
          <div className="row">
            <Dialog.Title className="grow">Settings</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          {FLAGS.map(([name, title, note], index) => (
            <label key={name} className="setting">
              <span className="grow">
                {title}
                {note && <span className="quiet small"> {note}</span>}
              </span>
              <input
                ref={index === 0 ? first : undefined}
                type="checkbox"
                checked={values[name]}
                onChange={({ target }) => change({ [name]: target.checked })}
              />
            </label>
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
          <label className="setting">
            <span className="grow">Contrast</span>
            <select value={values.contrast} onChange={({ target }) => change({ contrast: target.value as Values["contrast"] })}>
              <option value="system">System</option>
              <option value="more">High</option>
            </select>
          </label>
          <p className="quiet small">Saved in this browser only.</p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
