// Text to copy that is shown once: a field that selects itself, and a button.
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

interface Props {
  text: string;
  label: string;
  /** Takes the focus at once. */
  isFirst?: boolean;
  /** Called if the browser does not allow copying. */
  failed?: (error: unknown) => void;
}

export function CopyField({ text, label, isFirst = false, failed = () => undefined }: Props) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => void setIsCopied(false), [text]);
  return (
    <div className="row">
      <input
        className="field mono grow"
        readOnly
        value={text}
        aria-label={label}
        onFocus={({ target }) => {
          target.select();
          // The start of a URL identifies it better than its end.
          requestAnimationFrame(() => (target.scrollLeft = 0));
        }}
        autoFocus={isFirst}
      />
      <button className="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setIsCopied(true), failed)}>
        {isCopied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />} {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
