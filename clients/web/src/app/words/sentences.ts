// The server's sentences about cells, in the page's words and with cell numbers instead of ids.

export type SentencePart = { text: string } | { code: string } | { cell: string; number: number };

const WHYS: [RegExp, string][] = [
  [/^it has not run here$/, "not run yet"],
  [/^the kernel that ran it is gone$/, "its kernel has stopped"],
  [/^its text has changed since it ran$/, "edited since last run"],
  [/^its run failed$/, "its last run failed"],
  [/^it was deleted and came back, and its variables did not$/, "restored without its variables"],
  [/^cells read from each other in a circle: /, "circular dependency: "],
  [/^(cell \S+), from which it reads, has run since$/, "$1 has run since"],
  [/^(cell \S+), from which it reads, is not up to date$/, "depends on $1"],
  [/^(cell \S+), from which it reads, did not succeed$/, "$1 failed"],
  [/^a cell from which it reads did not succeed$/, "a cell it depends on failed"],
];

/** Reason why a cell is stale, shorter than the server's (src/core/reactive/staleness.rs). */
export function whyWords(why: string): string {
  const [from, to] = WHYS.find(([pattern]) => pattern.test(why)) ?? [/^$/, ""];
  return why.replace(from, to);
}

/** Splits a server's sentence into parts and replaces cell ids by cell numbers. */
export function partsOf(sentence: string, order: readonly string[]): SentencePart[] {
  const parts: SentencePart[] = [];
  let at = 0;
  for (const found of sentence.matchAll(/`([^`]+)`|(?:\bcell )?(?<![\w-])([\w-]{4,64})/g)) {
    const [all, code, id = ""] = found;
    const number = order.indexOf(id) + 1;
    if (code === undefined && number === 0) continue;
    if (found.index > at) parts.push({ text: sentence.slice(at, found.index) });
    parts.push(code === undefined ? { cell: id, number } : { code });
    at = found.index + all.length;
  }
  if (at < sentence.length) parts.push({ text: sentence.slice(at) });
  return parts;
}

/** The same sentence as plain text. */
export function numbered(sentence: string, order: readonly string[]): string {
  const words = (part: SentencePart) => ("cell" in part ? `cell ${part.number}` : "code" in part ? part.code : part.text);
  return partsOf(sentence, order).map(words).join("");
}
