// Button of owners that opens the dialog of a redaction. Renders nothing for others.
import { Eraser } from "lucide-react";
import { Suspense, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";
import type { RedactionTarget } from "../../../app/words/redactions.ts";
import { part } from "../../../ui/parts.ts";

const Redact = part(() => import("./Redact.tsx"));

/** Label for the whole past of a cell. */
export const REDACT_CELL = "Redact this cell’s past";

export interface Choice {
  target: RedactionTarget;
  /** Example: “Version 12: edited cell 1”. */
  words: string;
}

interface RedactButtonProps {
  store: NotebookStore;
  /** Example: “Redact this event”; also the title of the dialog. */
  label: string;
  /** Content to choose from; the first is chosen. */
  choices: Choice[];
  isIcon?: boolean;
}

export function RedactButton({ store, label, choices, isIcon = false }: RedactButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  if (!store.mayRedact || choices.length === 0) return null;
  const words = `${label}…`;
  return (
    <>
      <button
        className={isIcon ? "button bare tiny redact-button" : "button bare tiny small redact-button"}
        aria-label={words}
        title={words}
        onClick={() => setIsOpen(true)}
      >
        {isIcon ? <Eraser size={14} aria-hidden /> : words}
      </button>
      {isOpen && (
        <Suspense>
          <Redact store={store} label={label} choices={choices} close={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
