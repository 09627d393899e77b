// Groups the outputs of a run for display: adjacent pieces of a stream become one text.
import type { Output } from "../protocol/messages.ts";

export interface Group {
  /** One output, or all pieces of a stream. */
  outputs: Output[];
  isStream: boolean;
}

export function grouped(outputs: readonly Output[]): Group[] {
  const groups: Group[] = [];
  for (const output of outputs) {
    const last = groups.at(-1);
    const name = streamOf(output);
    if (last && name !== undefined && streamOf(last.outputs[0]) === name) last.outputs.push(output);
    else groups.push({ outputs: [output], isStream: name !== undefined });
  }
  return groups;
}

function streamOf(output: Output | undefined): string | undefined {
  const { output_type, name } = (output?.content ?? {}) as Record<string, unknown>;
  return output_type === "stream" ? String(name) : undefined;
}

export function bytesOf(outputs: readonly Output[]): number {
  return outputs.reduce((sum, { blobs }) => sum + (blobs ?? []).reduce((bytes, { size_bytes }) => bytes + size_bytes, 0), 0);
}

/** The last outputs with at most `most` bytes in total; at least one output. */
export function tail(outputs: readonly Output[], most: number): Output[] {
  let first = outputs.length - 1;
  while (first > 0 && bytesOf(outputs.slice(first - 1)) <= most) first -= 1;
  return outputs.slice(Math.max(0, first));
}

/** Reference to all rows of a table whose output shows the first ones (see arrow.ts); read on demand. */
export interface AllRows {
  /** The base64 text, or the blob that contains it. */
  at: { text: string } | { sha256: string; bytes: number };
}

const ARROW = "application/vnd.apache.arrow.stream";

/** Outputs without the blobs of their full tables. */
export function firstRows(outputs: readonly Output[]): Output[] {
  return outputs.map((output) => {
    const blobs = output.blobs?.filter(({ pointer }) => !isArrow(pointer));
    return blobs?.length === output.blobs?.length ? output : { ...output, blobs: blobs ?? [] };
  });
}

export function allRowsOf({ content, blobs }: Output): AllRows | undefined {
  const blob = blobs?.find(({ pointer }) => isArrow(pointer));
  if (blob) return { at: { sha256: blob.sha256, bytes: blob.size_bytes } };
  const text = (content as { data?: Record<string, unknown> } | null)?.data?.[ARROW];
  return typeof text === "string" ? { at: { text } } : undefined;
}

const isArrow = (pointer: string) => pointer === `/data/${ARROW.replaceAll("/", "~1")}`;
