// Splits an IPython traceback into frames with their cell or file and line.
import { withoutEscapes } from "./escapes.ts";

export interface Frame {
  /** Title: `Cell In[3], line 2`, or a file. */
  title: string;
  /** Execution count of the run whose cell contains the frame. */
  count?: number;
  line?: number;
  /** Text with colours, without the title. */
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

/** The innermost frame in a cell, which is the first place to look. */
export function placeOf(frames: Frame[]): Frame | undefined {
  return frames.findLast(({ count, line }) => count !== undefined && line !== undefined);
}

/** Line number of an SQL cell's error: `line 3: no such column`. */
export function sqlLine(value: string): number | undefined {
  const line = /^line (\d+): /.exec(withoutEscapes(value))?.[1];
  return line === undefined ? undefined : Number(line);
}
