// A traceback of IPython in its frames: which cell or file, which line.
import { withoutEscapes } from "./terminal.ts";

export interface Frame {
  /** `Cell In[3], line 2` or a file. */
  title: string;
  /** The kernel's number of the run whose cell it is in. */
  count?: number;
  line?: number;
  /** With colours, without the title. */
  text: string;
}

const IN_CELL = /^\s*(?:Cell |Input )?In ?\[(\d+)\](?:, line (\d+)|, in <(?:module|cell line: \d+)>(?:\(\))?)?/;
const OLD_CELL_LINE = /^\s*(?:Cell |Input )In ?\[\d+\], in <cell line: (\d+)>/;
const IN_FILE = /^\s*File ["']?(.+?)["']?(?::|, line )(\d+)(?:, in (.+))?/;

export function framesOf(traceback: string): Frame[] {
  const frames: Frame[] = [];
  for (const line of traceback.split("\n")) {
    const frame = opened(withoutEscapes(line));
    if (frame) frames.push(frame);
    else if (frames.length > 0) (frames.at(-1) as Frame).text += `${line}\n`;
  }
  return frames.map((frame) => ({ ...frame, text: frame.text.replace(/\s+$/, "") }));
}

function opened(line: string): Frame | undefined {
  const cell = IN_CELL.exec(line);
  const at = cell?.[2] ?? OLD_CELL_LINE.exec(line)?.[1];
  if (cell) return { title: line.trim(), count: Number(cell[1]), ...(at && { line: Number(at) }), text: "" };
  return IN_FILE.test(line) ? { title: line.trim(), text: "" } : undefined;
}

/** The innermost place that is in a cell: where a person looks first. */
export function placeOf(frames: Frame[]): Frame | undefined {
  return frames.findLast(({ count, line }) => count !== undefined && line !== undefined);
}

/** `line 3: no such column`, as an SQL cell says it. */
export function sqlLine(value: string): number | undefined {
  const line = /^line (\d+): /.exec(withoutEscapes(value))?.[1];
  return line === undefined ? undefined : Number(line);
}
