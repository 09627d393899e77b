// Attachments of questions: checks, upload as blobs, display.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Attachment } from "../../protocol/messages.ts";
import { sizeWords } from "../words/sizes.ts";
import type { NotebookStore } from "../state/store.ts";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const TEXTS: Record<string, string> = { json: "application/json", ipynb: "application/json", csv: "text/csv", md: "text/markdown" };

export const isPicture = ({ media_type }: { media_type: string }) => PICTURES.includes(media_type);

/** Uploads a file for the notebook. Throws an error with a readable message if models do not accept the file. */
export async function attach(store: NotebookStore, file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const media_type = typeOf(file, bytes);
  if (media_type === undefined)
    throw new Error(`${file.name} is neither an image nor text. Upload it to Files: the assistant can read it by code.`);
  const { max_picture_bytes, max_attached_text_bytes } = store.session.connection.limits;
  const most = PICTURES.includes(media_type) ? max_picture_bytes : max_attached_text_bytes;
  if (bytes.length > most)
    throw new Error(
      `${file.name} is too large (${sizeWords(bytes.length)}, at most ${sizeWords(most)}). Make it smaller, or upload it to Files.`,
    );
  if (bytes.length === 0) throw new Error(`${file.name} is empty.`);
  const hash = bytesToHex(sha256(bytes));
  const path = `/api/notebooks/${encodeURIComponent(store.id)}/blobs/${hash}`;
  await store.session.rest.send(path, { method: "PUT", headers: { "content-type": media_type }, body: bytes });
  return { sha256: hash, size_bytes: bytes.length, media_type, name: file.name || "picture.png" };
}

/** Detects the type from the content, because file names are unreliable. */
function typeOf(file: File, bytes: Uint8Array): string | undefined {
  const begins = (...codes: number[]) => codes.every((code, at) => bytes[at] === code);
  const word = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (begins(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (["GIF87a", "GIF89a"].includes(word(0, 6))) return "image/gif";
  if (word(0, 4) === "RIFF" && word(8, 12) === "WEBP") return "image/webp";
  try {
    if (new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0")) return undefined;
  } catch {
    return undefined;
  }
  return TEXTS[file.name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "text/plain";
}
