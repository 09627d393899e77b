// A question's attachment: thumbnail or file icon, with its name.
import { FileText, ImageOff, X } from "lucide-react";
import { useEffect, useState } from "react";
import { isPicture } from "../../app/files/attachments.ts";
import { sizeWords } from "../../app/words/sizes.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import type { Attachment } from "../../protocol/messages.ts";

interface Props {
  store: NotebookStore;
  attachment: Attachment;
  remove?: () => void;
}

export function Attached({ store, attachment, remove }: Props) {
  const { name, size_bytes } = attachment;
  return (
    <span className="attached" title={`${name}, ${sizeWords(size_bytes)}`}>
      {isPicture(attachment) ? <Thumbnail store={store} attachment={attachment} /> : <FileText size={18} aria-hidden />}
      <span className="name">{name}</span>
      {remove && (
        <button type="button" className="button bare icon" aria-label={`Remove ${name}`} title="Remove" onClick={remove}>
          <X size={13} />
        </button>
      )}
    </span>
  );
}

function Thumbnail({ store, attachment }: { store: NotebookStore; attachment: Attachment }) {
  const { sha256, media_type, name } = attachment;
  const [address, setAddress] = useState<string>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    let made: string | undefined;
    let isOver = false;
    store.session.rest.blob(store.id, sha256).then(
      (bytes) => {
        if (isOver) return;
        made = URL.createObjectURL(new Blob([bytes], { type: media_type }));
        setAddress(made);
      },
      () => setLost(true),
    );
    return () => {
      isOver = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [store, sha256, media_type]);
  if (isLost) return <ImageOff size={18} aria-label="Image unavailable" />;
  return address ? <img src={address} alt={name} /> : <span className="shape" aria-busy />;
}
