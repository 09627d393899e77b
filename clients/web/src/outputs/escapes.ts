// Splits text of programs into plain runs, control characters and escape sequences.

/**
 * Kind of a part of a text. "kept": without an effect on characters, but with content (a link, a title, a bell). "dropped": without
 * an effect on characters (a cursor's look, a mode of the keyboard). "unknown": the effect is not known. "unfinished": the text ends
 * within a sequence.
 */
export type Kind = "text" | "control" | "csi" | "kept" | "dropped" | "unknown" | "unfinished";

export interface Part {
  kind: Kind;
  end: number;
  /** Parameters and final character of a CSI sequence. */
  parameters: string;
  final: string;
}

/** Longest escape sequence that is waited for, in bytes. A longer one is not carried out. */
const MOST_SEQUENCE_BYTES = 4_096;
const PRINTED = /[^\u0000-\u001f\u007f-\u009f]+/y;
const PLAIN = /[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/y;
const CSI = /\u001b\[([ -?]*)/y;
const COMMAND = /\u001b\][^\u0000-\u001f]*/y;
const MODES = new Set(["?25", "?12", "?7", "?2004", "?2026", "?1004", "?1"]);
const encoder = new TextEncoder();

export function bytesOf(text: string): number {
  return /[^\u0000-\u007f]/.test(text) ? encoder.encode(text).length : text.length;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** End of the printed text, line breaks and tabs at a place. */
export const plainEnd = (text: string, at: number) => endOf(PLAIN, text, at);

const partOf = (kind: Kind, end: number, parameters = "", final = ""): Part => ({ kind, end, parameters, final });

export function nextPart(text: string, at: number): Part {
  const end = endOf(PRINTED, text, at);
  if (end > at) return partOf("text", end);
  const character = text.charAt(at);
  if (character === "\u001b") return sequence(text, at);
  if ("\n\r\t\b".includes(character)) return partOf("control", at + 1);
  return partOf(character === "\v" || character === "\f" || character >= "\u0080" ? "unknown" : "kept", at + 1);
}

function sequence(text: string, at: number): Part {
  const second = text.charAt(at + 1);
  const third = text.charAt(at + 2);
  if (second === "[") return csi(text, at);
  if (second === "]") return command(text, at);
  const isCharset = second === "(" || second === ")";
  if (second === "" || (isCharset && third === "")) return partOf("unfinished", text.length);
  if (second === "=" || second === ">" || second === "\\") return partOf("dropped", at + 2);
  return isCharset && third === "B" ? partOf("dropped", at + 3) : partOf("unknown", at + 1);
}

function csi(text: string, at: number): Part {
  const last = endOf(CSI, text, at);
  if (last === text.length) return unfinished(text, at);
  const [parameters, final, end] = [text.slice(at + 2, last), text.charAt(last), last + 1];
  const isDropped =
    ((final === "h" || final === "l") && MODES.has(parameters)) ||
    (final === "q" && parameters.endsWith(" ")) ||
    ((final === "n" || final === "c") && /^\d*$/.test(parameters));
  if (isDropped) return partOf("dropped", end);
  if (!/^[\d:;]*$/.test(parameters)) return final === "m" ? partOf("dropped", end) : partOf("unknown", at + 1);
  return "ABCDEFGHJKPX@dfm".includes(final) ? partOf("csi", end, parameters, final) : partOf("unknown", at + 1);
}

/** An operating system command: a link, a title. */
function command(text: string, at: number): Part {
  const end = endOf(COMMAND, text, at);
  if (end === text.length) return unfinished(text, at);
  if (text.charAt(end) === "\u0007") return partOf("kept", end + 1);
  if (text.startsWith("\u001b\\", end)) return partOf("kept", end + 2);
  return end === text.length - 1 && text.charAt(end) === "\u001b" ? unfinished(text, at) : partOf("unknown", at + 1);
}

function unfinished(text: string, at: number): Part {
  const isLong = bytesOf(text.slice(at)) > MOST_SEQUENCE_BYTES;
  return isLong ? partOf("unknown", at + 1) : partOf("unfinished", text.length);
}

/** End of a part that is left out of the text. A sequence with an unknown effect ends with its final character. */
export function skipped(text: string, at: number, { kind, end }: Part): number {
  if (kind !== "unknown" || text.charAt(at) !== "\u001b") return end;
  const second = text.codePointAt(at + 1) ?? 0;
  if (second !== 0x5b) return at + 1 + (second > 0xffff ? 2 : 1);
  const last = endOf(CSI, text, at);
  return /[@-\u007f]/.test(text.charAt(last)) ? last + 1 : last;
}

export function withoutEscapes(text: string): string {
  let [kept, from] = ["", 0];
  for (let at = text.indexOf("\u001b"); at >= 0; at = text.indexOf("\u001b", from)) {
    kept += text.slice(from, at);
    from = skipped(text, at, nextPart(text, at));
  }
  return kept + text.slice(from);
}
