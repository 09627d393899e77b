// Continues a text by letters typed after its editor was closed, as the editor would: a closing bracket or quote that already
// closes the text is typed over.

const OPENING: Record<string, string> = { ")": "(", "]": "[", "}": "{" };
const QUOTES = new Set(['"', "'", "`"]);

/** Inserts typed letters at a place of the text. With `closes`, the editor had closed brackets and quotes by itself. */
export function typedOn(text: string, at: number, typed: string, closes: boolean): string {
  let [before, after] = [text.slice(0, at), text.slice(at)];
  for (const sign of typed) {
    if (closes && after.startsWith(sign) && isClosed(sign, lastLine(before), firstLine(after))) after = after.slice(1);
    before += sign;
  }
  return before + after;
}

/** True if the line after the caret already closes what is open before it. */
function isClosed(sign: string, before: string, after: string): boolean {
  if (QUOTES.has(sign)) return count(before, sign) % 2 === 1 && count(after, sign) % 2 === 1;
  const opening = OPENING[sign];
  if (opening === undefined) return false;
  const open = count(before, opening) - count(before, sign);
  return open > 0 && open <= count(after, sign) - count(after, opening);
}

const count = (text: string, sign: string) => text.split(sign).length - 1;
const lastLine = (text: string) => text.slice(text.lastIndexOf("\n") + 1);
const firstLine = (text: string) => text.split("\n", 1)[0] ?? "";
