// One line of the emulated terminal: text as it came until a part of it is overwritten, then columns.
import { bytesOf, nextPart } from "./escapes.ts";
import { PLAIN, type Style, change, isSame, styled } from "./sgr.ts";
import { widthOf } from "./widths.ts";

/** One column. The second column of a wide character has no text; accents and the like are with the character before them. */
interface Cell {
  readonly text: string;
  readonly style: Style;
}

const BLANK: Cell = { text: " ", style: PLAIN };
/** Most bytes of marks (accents, joined emoji) behind a character. */
const MOST_MARK_BYTES = 64;
const isBlank = (cell: Cell | undefined) => cell !== undefined && cell.text === " " && isSame(cell.style, PLAIN);
export const afterTab = (column: number) => column - (column % 8) + 8;

export class Row {
  /** Text as it came, with colours as escapes. Undefined once a part of it was overwritten. */
  text: string | undefined = "";
  /** Text that is appended from now on overwrites the row. */
  isClosed = false;
  /** Nothing but appended text is in the row: blanks at its end stay. */
  #keepsBlanks = false;
  /** Style of the columns behind the cells. */
  rest = PLAIN;
  /** Style before the text as it came. */
  before: Style;
  #cells: Cell[] | undefined;
  #columns: number | undefined;

  constructor(before: Style) {
    this.before = before;
  }

  /** Number of columns. */
  get columns(): number {
    if (this.#cells) return this.#cells.length;
    const text = this.text ?? "";
    return (this.#columns ??= /^[ -~]*$/.test(text) ? text.length : this.#parsed.length);
  }

  get isEmpty(): boolean {
    if (this.text !== undefined) return this.text === "" || this.columns === 0;
    return this.#shown(this.#parsed) === 0 && isSame(this.rest, PLAIN);
  }

  /** Appends printed text, tabs and colours at the end; returns the column after it, or undefined if it stays as it came. */
  append(column: number, text: string, style: Style): number | undefined {
    if (this.text === "" && column === 0) this.before = style;
    if (this.text !== undefined && !this.isClosed && (this.text !== "" || column === 0)) {
      this.text += text;
      this.#cells = this.#columns = undefined;
      return undefined;
    }
    const keepsBlanks = !this.isClosed && (this.#keepsBlanks || this.text !== undefined);
    const [first = "", ...rest] = text.split("\t");
    column = this.write(column, first, style);
    for (const part of rest) column = this.write(afterTab(column), part, style);
    if (keepsBlanks && this.text === undefined) this.#keepsBlanks = true;
    return column;
  }

  /** Ends the text that was appended; returns the column after text as it came. Text without a column is dropped. */
  close(): number | undefined {
    const end = this.text && !this.isClosed ? this.#parse() : undefined;
    this.isClosed = this.columns > 0;
    if (this.text !== undefined && !this.isClosed) {
      this.text = "";
      this.#cells = undefined;
    }
    return end;
  }

  get #parsed(): Cell[] {
    if (!this.#cells) this.#parse();
    return this.#cells ?? [];
  }

  /** Reads the cells from the text; returns the column after them. */
  #parse(): number {
    const text = this.text ?? "";
    this.#cells = [];
    let [style, column] = [this.before, 0];
    for (let at = 0; at < text.length;) {
      const { kind, end, parameters } = nextPart(text, at);
      if (kind === "csi") style = styled(style, parameters);
      else if (kind === "control") column = afterTab(column);
      else if (kind === "text") column = this.#write(column, text.slice(at, end), style);
      at = end;
    }
    return column;
  }

  /** The cells, of which some are about to change. */
  #touched(): Cell[] {
    const cells = this.#parsed;
    this.text = undefined;
    this.#keepsBlanks = false;
    return cells;
  }

  /** Writes printed characters; returns the column after them. */
  write(column: number, text: string, style: Style): number {
    // An accent belongs to the character before it.
    const isMarked = widthOf(text.codePointAt(0) ?? 0) === 0 && column > 0 && column <= this.columns;
    void this.#parsed;
    const end = this.#write(column, text, style);
    if (end > column || isMarked) this.#touched();
    return end;
  }

  #write(column: number, text: string, style: Style): number {
    const cells = this.#parsed;
    for (const character of text) {
      const width = widthOf(character.codePointAt(0) ?? 0);
      const isSimple = width === 1 && column <= cells.length && cells[column]?.text !== "" && cells[column + 1]?.text !== "";
      if (isSimple) cells[column] = { text: character, style };
      else if (width === 0) this.#mark(cells, column, character);
      else this.#put(cells, column, character, width, style);
      column += width;
    }
    return column;
  }

  #put(cells: Cell[], column: number, text: string, width: number, style: Style): void {
    this.#extend(cells, column);
    if (column < cells.length) {
      splitWide(cells, column);
      splitWide(cells, column + width);
    }
    cells[column] = { text, style };
    for (let half = 1; half < width; half++) cells[column + half] = { text: "", style };
  }

  /** Adds a character without a width to the one before the column. */
  #mark(cells: Cell[], column: number, mark: string): void {
    const at = cells[column - 1]?.text === "" ? column - 2 : column - 1;
    const cell = cells[at];
    if (column > cells.length || !cell) return;
    const first = String.fromCodePoint(cell.text.codePointAt(0) ?? 0);
    if (bytesOf(cell.text.slice(first.length)) < MOST_MARK_BYTES) cells[at] = { ...cell, text: cell.text + mark };
  }

  /** Fills the row with blanks up to a column. */
  #extend(cells: Cell[], column: number): void {
    while (cells.length < column) cells.push({ text: " ", style: this.rest });
  }

  /** Erases columns; without an end all behind. */
  erase(from: number, until: number | undefined, style: Style): void {
    const cells = this.#touched();
    const isSameRest = isSame(style, this.rest);
    if (until !== undefined && (until < cells.length || !isSameRest)) {
      this.#extend(cells, until);
      splitWide(cells, from);
      splitWide(cells, until);
      cells.fill({ text: " ", style }, from, until);
      return;
    }
    if (from < cells.length) {
      splitWide(cells, from);
      cells.length = from;
    }
    if (!isSameRest) {
      this.#extend(cells, from);
      this.rest = style;
    }
  }

  /** Removes columns; the rest of the row moves to the left. */
  delete(from: number, count: number): void {
    if (from >= this.columns) return;
    const cells = this.#touched();
    splitWide(cells, from);
    splitWide(cells, Math.min(from + count, cells.length));
    cells.splice(from, count);
  }

  /** Inserts blank columns; the rest of the row moves to the right. */
  insert(at: number, count: number): void {
    if (at >= this.columns) return;
    const cells = this.#touched();
    splitWide(cells, at);
    cells.splice(at, 0, ...Array<Cell>(count).fill(BLANK));
  }

  /** Removes plain blanks at the end. */
  trim(): void {
    if (this.text === undefined && this.#cells) this.#cells.length = this.#shown(this.#cells);
  }

  /** Makes the row text as it came, which ends in a style. */
  keep(style: Style, isTrimmed: boolean): void {
    const line = this.columns === 0 ? "" : this.line(isTrimmed);
    this.text = line + (line.includes("\u001b") ? "\u001b[0m" : "") + style.escape;
    this.#cells = this.#columns = undefined;
    this.isClosed = false;
    this.before = PLAIN;
  }

  /** Number of columns without plain blanks at the end. */
  #shown(cells: Cell[]): number {
    let end = cells.length;
    if (!this.#keepsBlanks && isSame(this.rest, PLAIN)) while (isBlank(cells[end - 1])) end -= 1;
    return end;
  }

  /** The row as text with colours as escapes. */
  line(isTrimmed = true): string {
    if (this.text !== undefined) return this.text === "" ? "" : this.before.escape + this.text;
    const cells = this.#parsed;
    const end = isTrimmed ? this.#shown(cells) : cells.length;
    let [line, style] = ["", PLAIN];
    for (let at = 0; at < end; at++) {
      const cell = cells[at] ?? BLANK;
      if (cell.style !== style) line += change(style, cell.style);
      ({ style } = cell);
      line += cell.text;
    }
    return line;
  }
}

/** Puts blanks in place of a wide character whose second half is at a column. */
function splitWide(cells: Cell[], column: number): void {
  const [first, second] = [cells[column - 1], cells[column]];
  if (!first || second?.text !== "") return;
  cells[column - 1] = { text: " ", style: first.style };
  cells[column] = { text: " ", style: second.style };
}
