// Images in text cells, stored as nbformat attachments; they need no kernel.
import type { CopiedCell } from "../cells/clipboard.ts";
import { sizeWords } from "../words/sizes.ts";
import type { NotebookStore } from "../state/store.ts";

type Attachments = Record<string, Record<string, unknown>>;

/** Size limit: the command, in base64, must fit into one frame of the socket. */
const MOST_BYTES = 4_000_000;
const MOST_OF_CELL = 7_000_000;
const TRIES = 3;

export const isPictureFile = ({ type }: File) => ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(type);

/** A Markdown cell that shows the image. */
export async function pictureCell(file: File): Promise<CopiedCell> {
  const name = nameOf(file, {});
  return { cell_type: "markdown", source: reference(name), attachments: { [name]: await bundle(file) } };
}

/** Adds the image to a text cell and returns its Markdown; undefined if the cell has no room for it. */
export async function addPicture(store: NotebookStore, cell_id: string, file: File): Promise<string | undefined> {
  const content = await bundle(file);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const before = attachmentsOf(store, cell_id);
    const name = nameOf(file, before);
    const attachments = { ...before, [name]: content };
    if (JSON.stringify(attachments).length > MOST_OF_CELL) return undefined;
    const done = await store.send({ SetCellAttachments: { cell_id, attachments } });
    if (!done) throw new Error("");
    // Attachments are replaced as a whole, so a concurrent change may have removed this one: retry.
    if (attachmentsOf(store, cell_id)[name] !== undefined) return reference(name);
  }
  return undefined;
}

function attachmentsOf(store: NotebookStore, cell: string): Attachments {
  return (store.document.cells.get(cell)?.attachments ?? {}) as Attachments;
}

async function bundle(file: File): Promise<Record<string, string>> {
  if (file.size > MOST_BYTES)
    throw new Error(
      `“${file.name || "The picture"}” is larger than ${sizeWords(MOST_BYTES)}. Make it smaller, or upload it in Files and read it into a cell.`,
    );
  const reader = new FileReader();
  const address = await new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`“${file.name}” can’t be read. Choose it again.`));
    reader.readAsDataURL(file);
  });
  return { [file.type]: address.slice(address.indexOf(",") + 1) };
}

/** An unused name that needs no escapes in Markdown. */
function nameOf(file: File, taken: Attachments): string {
  const ending = file.type.split("/")[1]?.replace("jpeg", "jpg") ?? "png";
  const plain = file.name.replace(/\.[^.]*$/, "").replace(/[^a-zA-Z0-9._-]+/g, "-");
  const stem = /[a-zA-Z0-9]/.test(plain) ? plain : "picture";
  for (let number = 1; ; number++) {
    const name = number === 1 ? `${stem}.${ending}` : `${stem}-${number}.${ending}`;
    if (!(name in taken)) return name;
  }
}

const reference = (name: string) => `![${name.replace(/\.[^.]*$/, "")}](attachment:${name})`;
