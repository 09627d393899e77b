// Preview of a file in the notebook's folder: its first bytes as a picture, table or text.
import { useEffect, useState } from "react";
import { type Files, problemWords } from "../../../app/files/files.ts";
import {
  MOST_WHOLE_BYTES,
  MOST_TEXT_BYTES,
  type Rows,
  pictureType,
  previewKind,
  rowsOf,
  textOf,
} from "../../../app/files/preview.ts";
import { nameParts, shownName } from "../../../app/files/readers.ts";
import { sizeWords } from "../../../app/words/sizes.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { TitledDialog } from "../../../ui/TitledDialog.tsx";
import { readIntoCell } from "./FileMenu.tsx";

interface Props {
  store: NotebookStore;
  work: Files;
  path: string;
  close: () => void;
}

type PreviewContent = { picture: string } | { rows: Rows } | { text: string; isCut: boolean } | { note: string };

export default function FilePreview({ store, work, path, close }: Props) {
  const shown = useBeginning(work, path);
  const { folder, name } = nameParts(path);
  return (
    <TitledDialog
      kind="preview"
      title={
        <>
          <bdi>{shownName(name)}</bdi>
        </>
      }
      end="Close"
      close={close}
      finalFocus={undefined}
    >
      <div className="previewed" tabIndex={0} role="region" aria-label={`Preview of ${shownName(name)}`}>
        {shown ? (
          <Content shown={shown} name={shownName(name)} />
        ) : (
          <p className="quiet empty" role="status">
            Loading…
          </p>
        )}
      </div>
      <footer className="row">
        {store.mayEdit && (
          <button
            className="button primary"
            onClick={() => {
              readIntoCell(store, path);
              close();
            }}
          >
            Read into a cell
          </button>
        )}
        <button className="button" onClick={() => void work.download(folder, { name, kind: "file" })}>
          Download
        </button>
      </footer>
    </TitledDialog>
  );
}

function Content({ shown, name }: { shown: PreviewContent; name: string }) {
  if ("note" in shown) return <p className="quiet empty">{shown.note}</p>;
  if ("picture" in shown) return <img src={shown.picture} alt={name} />;
  if ("rows" in shown) return <Table {...shown.rows} />;
  return (
    <>
      <pre dir="auto">{shown.text}</pre>
      {shown.isCut && <p className="quiet small">The first {sizeWords(MOST_TEXT_BYTES)}. Download the file to see all of it.</p>}
    </>
  );
}

function Table({ head, rows, hasMore, total }: Rows) {
  const of = total === undefined ? "" : ` of ${total.toLocaleString()}`;
  return (
    <>
      <table>
        <thead>
          <tr>
            {head.map((text, at) => (
              <th key={at} dir="auto">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((text, column) => (
                <td key={column} dir="auto">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet small">
        {hasMore ? `The first ${rows.length}${of} rows.` : rows.length === 1 ? "1 row." : `${rows.length} rows.`}
      </p>
    </>
  );
}

/** Loads the preview; revokes the object URL of a picture on cleanup. */
function useBeginning(work: Files, path: string): PreviewContent | undefined {
  const [shown, setShown] = useState<PreviewContent>();
  useEffect(() => {
    const end = new AbortController();
    let address: string | undefined;
    const show = async () => {
      const found = await beginning(work, path, end.signal);
      if (end.signal.aborted) return;
      if (found instanceof Blob) {
        address = URL.createObjectURL(found);
        setShown({ picture: address });
      } else setShown(found);
    };
    show().catch((error: unknown) => !end.signal.aborted && setShown({ note: problemWords(error) }));
    return () => {
      end.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [work, path]);
  return shown;
}

async function beginning(work: Files, path: string, signal: AbortSignal): Promise<PreviewContent | Blob> {
  const kind = previewKind(path);
  const isWhole = kind === "picture" || kind === "parquet";
  const most = isWhole ? MOST_WHOLE_BYTES : MOST_TEXT_BYTES;
  const { bytes, isCut } = await work.beginning(path, most, signal);
  if (bytes.length === 0) return { note: "The file is empty." };
  if (isWhole && isCut) return { note: `Larger than ${sizeWords(most)}: no preview. Read it into a cell or download it.` };
  if (kind === "picture") return new Blob([bytes], { type: pictureType(path) ?? "" });
  if (kind === "parquet") return parquet(bytes);
  const text = textOf(bytes, isCut);
  if (text === undefined) return NONE;
  return kind === "table" ? { rows: rowsOf(text, isCut) } : { text, isCut };
}

const NONE = { note: "This file has no preview. Read it into a cell or download it." };

async function parquet(bytes: Uint8Array<ArrayBuffer>): Promise<PreviewContent> {
  const { parquetRows } = await import("../../../app/files/parquet.ts");
  const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  // Unsupported compression, or not a Parquet file.
  return parquetRows(whole).then(
    (rows) => ({ rows }),
    () => NONE,
  );
}
