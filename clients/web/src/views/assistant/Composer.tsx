// Message field of the assistant. Attachments come from the file picker, the clipboard or drag and drop.
import { Paperclip } from "lucide-react";
import { type ClipboardEvent, type DragEvent, type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { attach } from "../../app/files/attachments.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import type { Attachment } from "../../protocol/messages.ts";
import { Attached } from "./Attached.tsx";

interface Props {
  store: NotebookStore;
  ask: (text: string, attachments: Attachment[]) => Promise<unknown>;
  isBusy: boolean;
}

export function Composer({ store, ask, isBusy }: Props) {
  const [text, setText] = useState("");
  const [attached, setAttached] = useState<Attachment[]>([]);
  const [error, setError] = useState<string>();
  const [coming, setComing] = useState(0);
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const isReady = text.trim() !== "" && !isBusy && coming === 0;
  const send = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (!isReady) return;
    // A question that was not sent stays in the field.
    void ask(text, attached).then((done) => {
      if (done === undefined) return;
      setText("");
      setAttached([]);
    });
  };
  const bring = async (files: File[]) => {
    setError(undefined);
    const most = store.session.connection.limits.max_question_attachments;
    if (attached.length + coming + files.length > most) return setError(`At most ${most} attachments.`);
    setComing((count) => count + files.length);
    for (const file of files) {
      try {
        const one = await attach(store, file);
        setAttached((before) => [...before.filter(({ sha256 }) => sha256 !== one.sha256), one]);
      } catch (failure) {
        setError((failure as Error).message);
      }
      setComing((count) => count - 1);
    }
  };
  const take = (event: ClipboardEvent | DragEvent, files: FileList) => {
    if (files.length === 0) return;
    event.preventDefault();
    void bring([...files]);
  };
  return (
    <form
      className={`composer ${isOver ? "over" : ""}`}
      onSubmit={send}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        take(event, event.dataTransfer.files);
      }}
    >
      {error && (
        <p className="error small" role="alert">
          {error}
        </p>
      )}
      {(attached.length > 0 || coming > 0) && (
        <div className="row attachments" role="group" aria-label="Attachments">
          {attached.map((one) => (
            <Attached
              key={one.sha256}
              store={store}
              attachment={one}
              remove={() => setAttached(attached.filter(({ sha256 }) => sha256 !== one.sha256))}
            />
          ))}
          {coming > 0 && <span className="attached shape" aria-busy aria-label="Uploading" />}
        </div>
      )}
      <button
        type="button"
        className="button bare icon"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => picker.current?.click()}
      >
        <Paperclip size={16} />
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ target }) => {
          void bring([...(target.files ?? [])]);
          // Reset, so that the same file can be chosen again.
          target.value = "";
        }}
      />
      <textarea
        className="field"
        dir="auto"
        rows={1}
        aria-label="Message to the assistant"
        placeholder={isBusy ? "The assistant is working…" : "Ask the assistant…"}
        value={text}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && send(event)}
        onPaste={(event) => take(event, event.clipboardData.files)}
      />
      <button className="button primary" disabled={!isReady}>
        Send
      </button>
    </form>
  );
}
