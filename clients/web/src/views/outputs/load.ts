// Content of an output. Large parts are fetched from blobs, the largest only on request.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { type Group, bytesOf, firstRows, tail } from "../../outputs/groups.ts";
import { joined } from "../../outputs/mime.ts";
import { parseJson } from "../../protocol/exactJson.ts";
import type { Output } from "../../protocol/messages.ts";
import { put } from "../../transport/rest.ts";

/** Larger content is fetched on request. */
const LARGE_BYTES = 4_000_000;

export type OutputContent =
  | { state: "there"; content: unknown; isPart?: boolean; /** Bytes left out before it. */ leftOut?: number; showAll?: () => void }
  | { state: "large"; bytes: number; show: () => void }
  | { state: "loading"; read: number; bytes: number }
  | { state: "failed"; why: string; again: () => void };

export function useContent(store: NotebookStore, { outputs: all, isStream }: Group): OutputContent {
  const outputs = useMemo(() => firstRows(all), [all]);
  const [isAsked, setAsked] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [loaded, setLoaded] = useState<OutputContent>();
  const bytes = bytesOf(outputs);
  const isLarge = bytes > LARGE_BYTES && !isAsked;
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  const show = useCallback(() => setAsked(true), []);
  const plain = useMemo(() => (bytes === 0 ? contentOf(outputs.map(({ content }) => content)) : undefined), [outputs, bytes]);
  useEffect(() => {
    if (bytes === 0 || (isLarge && !isStream)) return;
    let isGone = false;
    const tell = (next: OutputContent) => !isGone && setLoaded(next);
    const [only] = outputs;
    const parts = isLarge ? tail(outputs, LARGE_BYTES) : outputs;
    const leftOut = bytes - bytesOf(parts);
    const isStreamed = outputs.length === 1 && bytes > LARGE_BYTES && only;
    const done = isStreamed ? streamed(store, only, bytes, tell, () => isGone) : whole(store, parts);
    done.then(
      (content) => tell({ state: "there", content, ...(leftOut > 0 && { leftOut, showAll: show }) }),
      (error: Error) => tell({ state: "failed", why: error.message, again }),
    );
    return () => void (isGone = true);
  }, [store, outputs, isStream, bytes, isLarge, attempt, again, show]);
  // Content that moves to a blob while it grows stays in sight until the blob is there.
  const before = useRef<unknown>(undefined);
  useEffect(() => {
    if (bytes === 0) before.current = plain;
  }, [bytes, plain]);
  if (bytes === 0) return { state: "there", content: plain };
  if (isLarge && !isStream) return { state: "large", bytes, show };
  if (loaded) return loaded;
  return before.current === undefined ? { state: "loading", read: 0, bytes } : { state: "there", content: before.current };
}

async function whole(store: NotebookStore, outputs: Output[]): Promise<unknown> {
  return contentOf(await Promise.all(outputs.map((output) => store.session.rest.whole(store.id, output))));
}

/** Joins the chunks of a stream into one output. */
function contentOf(contents: unknown[]): unknown {
  const pieces = contents as Record<string, unknown>[];
  return pieces.length < 2 ? pieces[0] : { ...pieces[0], text: pieces.map(({ text }) => joined(text)).join("") };
}

/** Fetches blobs progressively: text is shown as it arrives, other content shows the progress. */
async function streamed(
  store: NotebookStore,
  output: Output,
  bytes: number,
  show: (loaded: OutputContent) => void,
  isGone: () => boolean,
): Promise<unknown> {
  let content: unknown = output.content;
  let before = 0;
  for (const { pointer, sha256, json } of output.blobs ?? []) {
    let [text, told, read] = ["", 0, 0];
    for await (const piece of store.session.rest.pieces(store.id, sha256)) {
      if (isGone()) return undefined;
      text += piece.text;
      read = piece.read;
      if (performance.now() - told < 200) continue;
      told = performance.now();
      const isText = !json && (pointer === "/text" || pointer.endsWith("text~1plain"));
      if (isText) show({ state: "there", content: put(content, pointer, text), isPart: true });
      else show({ state: "loading", read: before + read, bytes });
    }
    before += read;
    content = put(content, pointer, json ? parseJson(text) : text);
  }
  return content;
}
