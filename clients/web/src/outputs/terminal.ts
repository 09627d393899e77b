// Terminal emulation for program output, as in src/terminal/: 4,000 columns wide, never scrolling. Colours stay as escapes.
// tests/fixtures/terminal/ has cases that both read.
import { type Part, bytesOf, nextPart, plainEnd, skipped } from "./escapes.ts";
import { Row, afterTab } from "./screenRow.ts";
import { PLAIN, type Style, erased, styled } from "./sgr.ts";

/** Columns to which a cursor can be moved. */
const COLUMNS = 4_000;
/** Size of the screen. Rows above it cannot change any more. */
const MOST_ROWS = 2_000;
const MOST_CELLS = 262_144;
/** Longest run of characters that is written before the size of the screen is checked. */
const STEP = 4_096;

/** In "long line" the text stays as it came up to the line's end, in "stopped" (after an unknown effect) up to the end. */
type Mode = "folding" | "long line" | "stopped";

export class Screen {
  /** All text written so far. */
  text = "";
  #rows: Row[] = [new Row(PLAIN)];
  /** Rows before this one cannot change any more. */
  #first = 0;
  #x = 0;
  #y = 0;
  #style: Style = PLAIN;
  #mode: Mode = "folding";
  /** Beginning of an escape sequence; it continues in the next piece. */
  #unfinished = "";
  /** Bytes appended behind all others since the last part of another kind. */
  #pending = 0;
  /** Bytes written since the size of the screen was measured. */
  #unmeasured = 0;
  #lines: string[] = [];
  /** Rows before this one are unchanged in `#lines`. */
  #unchanged = 0;

  write(more: string): void {
    this.text += more;
    const all = this.#unfinished + more;
    this.#unfinished = "";
    for (let at = 0; at < all.length;) {
      const end = this.#mode === "folding" ? this.#fold(all, at) : this.#pass(all, at);
      if (end === undefined) {
        this.#unfinished = all.slice(at);
        return;
      }
      at = end;
    }
  }

  /** Lines of the screen, each with its own colour escapes. */
  lines(): string[] {
    for (let at = this.#unchanged; at < this.#rows.length; at++) this.#lines[at] = this.#rows[at]?.line() ?? "";
    this.#lines.length = this.#unchanged = this.#rows.length;
    return this.#lines.slice(0, this.#shownRows());
  }

  /** Number of rows without the empty ones below the cursor. */
  #shownRows(): number {
    let count = this.#rows.length;
    while (count > this.#y + 1 && this.#rows[count - 1]?.isEmpty) count -= 1;
    return count;
  }

  get #last(): number {
    return this.#rows.length - 1;
  }

  /** A row that is about to change. */
  #row(at = this.#y): Row {
    this.#unchanged = Math.min(this.#unchanged, at);
    return (this.#rows[at] ??= new Row(this.#style));
  }

  /** Carries out the next part; returns its end. Undefined: the text ends within a sequence. */
  #fold(all: string, at: number): number | undefined {
    if (this.#pending > 0 || (this.#y === this.#last && this.#x >= (this.#rows[this.#y]?.columns ?? 0))) {
      const end = this.#append(all, at);
      if (end > at) return end;
    }
    const part = nextPart(all, at);
    if (part.kind === "unfinished") return undefined;
    if (part.kind === "dropped") return part.end;
    this.#place();
    if (this.#mode !== "folding") return at;
    const content = all.slice(at, part.kind === "text" ? Math.min(part.end, at + STEP) : part.end);
    if (!this.#apply(part, content)) {
      this.#stop("stopped");
      return at;
    }
    this.#unmeasured += bytesOf(content);
    this.#forget();
    return at + content.length;
  }

  /** Appends text behind all others as it came, if the next part allows it; returns its end. */
  #append(all: string, at: number): number {
    let end = plainEnd(all, at);
    if (end > at) this.#appendPlain(all.slice(at, end));
    else if (all.startsWith("\r\n", at)) {
      end = at + 2;
      this.#addRow();
    } else {
      const part = nextPart(all, at);
      if (part.kind === "csi" && part.final === "m") this.#colour(part.parameters);
      else if (part.kind !== "kept") return at;
      end = part.end;
    }
    this.#pending += bytesOf(all.slice(at, end));
    if (this.#pending > 2 * MOST_CELLS) this.#settleBeginning();
    return end;
  }

  #appendPlain(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      if (end > from) this.#appendToRow(text.slice(from, end));
      this.#addRow();
      from = end + 1;
    }
    if (from < text.length) this.#appendToRow(text.slice(from));
  }

  #appendToRow(text: string): void {
    this.#x = this.#row().append(this.#x, text, this.#style) ?? this.#x;
  }

  #colour(parameters: string): void {
    this.#style = styled(this.#style, parameters);
    const row = this.#row();
    if (row.text && !row.isClosed) row.append(0, `\u001b[${parameters}m`, this.#style);
  }

  #addRow(): void {
    this.#rows.push(new Row(this.#style));
    this.#y = this.#last;
    this.#x = 0;
  }

  /** Ends the text that was appended as it came: what follows may change it. */
  #place(): void {
    if (this.#pending > 0) this.#x = this.#row().close() ?? this.#x;
    this.#unmeasured += this.#pending;
    this.#pending = 0;
    this.#forget();
  }

  /** Ends changes of all appended lines but the last ones. */
  #settleBeginning(): void {
    let [first, bytes] = [this.#rows.length, -1];
    for (; first > 0; first--) {
      const more = bytesOf(this.#rows[first - 1]?.text ?? "") + 1;
      if (bytes + more >= MOST_CELLS) break;
      bytes += more;
    }
    if (first > this.#last) this.#stop("long line");
    else [this.#first, this.#pending] = [first, bytes];
  }

  /** Keeps the screen within its limits: its first rows cannot change any more. */
  #forget(): void {
    let rows = this.#rows.length - this.#first;
    if (rows <= MOST_ROWS && this.#unmeasured < MOST_CELLS / 4) return;
    this.#unmeasured = 0;
    let cells = 0;
    for (let at = this.#first; at <= this.#last; at++) cells += this.#rows[at]?.columns ?? 0;
    for (; (rows > MOST_ROWS || cells > MOST_CELLS) && this.#y > this.#first; rows--) {
      this.#rows[this.#first]?.trim();
      cells -= this.#rows[this.#first]?.columns ?? 0;
      this.#first += 1;
    }
    if (cells > MOST_CELLS) this.#stop(rows > 1 ? "stopped" : "long line");
  }

  /** Appends all text from here to the last row, as it comes. */
  #stop(mode: Mode): void {
    this.#mode = mode;
    this.#rows.length = this.#shownRows();
    if (this.#y < this.#last) this.#row().keep(PLAIN, false);
    this.#row(this.#last).keep(this.#style, this.#y < this.#last);
    [this.#y, this.#x, this.#pending] = [this.#last, 0, 0];
  }

  /** Appends the next part as it came, without escapes other than colours; folds again after a long line. */
  #pass(all: string, at: number): number | undefined {
    const part = nextPart(all, at);
    const { kind, end, parameters, final } = part;
    const content = all.slice(at, end);
    const isColour = kind === "csi" && final === "m";
    if (kind === "unfinished") return undefined;
    if (this.#mode === "long line" && (kind === "unknown" || (kind === "csi" && !isColour))) this.#mode = "stopped";
    if (isColour) this.#colour(parameters);
    else if (kind === "text" || content === "\t" || content === "\r") this.#appendToRow(content);
    else if (content === "\n") {
      this.#addRow();
      if (this.#mode === "long line") [this.#mode, this.#first] = ["folding", this.#y];
    }
    return skipped(all, at, part);
  }

  /** Carries out a part on the screen; false if its effect is not known. */
  #apply({ kind, parameters, final }: Part, content: string): boolean {
    if (kind === "text") this.#x = this.#row().write(this.#x, content, this.#style);
    else if (kind === "control") this.#control(content);
    else if (kind === "csi" && final === "m") this.#style = styled(this.#style, parameters);
    else if (kind === "csi") return this.#sequence(final, parameters);
    return kind !== "unknown";
  }

  #control(control: string): void {
    if (control === "\n") {
      if (this.#y === this.#last) this.#addRow();
      else [this.#x, this.#y] = [0, this.#y + 1];
    } else if (control === "\r") this.#x = 0;
    else this.#x = control === "\t" ? afterTab(this.#x) : Math.max(0, this.#x - 1);
  }

  #sequence(final: string, parameters: string): boolean {
    const [first = 0, second = 0] = parameters.split(";").map(numberOf);
    const count = Math.max(1, first);
    if ("ABEFHdf".includes(final)) {
      if (!this.#moveRow("AF".includes(final) ? -count : "BE".includes(final) ? count : count - 1 - this.#y)) return false;
      if (final === "E" || final === "F") this.#x = 0;
      if (final === "H" || final === "f") this.#x = Math.min(COLUMNS, Math.max(1, second)) - 1;
    } else if (final === "C") this.#moveTo(this.#x + count);
    else if (final === "D") this.#x = Math.max(0, this.#x - count);
    else if (final === "G") this.#moveTo(count - 1);
    else if (final === "K") return this.#eraseLine(first);
    else if (final === "J") return this.#eraseRows(first);
    else if (final === "X") this.#row().erase(this.#x, this.#x + Math.min(count, COLUMNS), erased(this.#style));
    else if (final === "P") this.#row().delete(this.#x, count);
    else if (final === "@") this.#row().insert(this.#x, Math.min(count, COLUMNS));
    return true;
  }

  #moveTo(column: number): void {
    this.#x = Math.min(column, Math.max(COLUMNS - 1, this.#x));
  }

  /** Moves up or down; false if the row is not on the screen. */
  #moveRow(by: number): boolean {
    const row = Math.max(0, this.#y + by);
    if (row < this.#first || row >= this.#first + MOST_ROWS) return false;
    while (this.#last < row) this.#rows.push(new Row(PLAIN));
    this.#y = row;
    return true;
  }

  /** Erases in the line: 0 to the end, 1 to the cursor, 2 all. */
  #eraseLine(what: number): boolean {
    const style = erased(this.#style);
    if (what > 2) return false;
    if (what === 0) this.#row().erase(this.#x, undefined, style);
    else this.#row().erase(0, what === 1 ? this.#x + 1 : undefined, style);
    return true;
  }

  /** Erases rows: 0 below, 1 above, 2 or 3 all. */
  #eraseRows(what: number): boolean {
    if (what > 3 || (what > 0 && this.#first > 0)) return false;
    const [from, until] = what === 0 ? [this.#y + 1, this.#rows.length] : [0, what === 1 ? this.#y : this.#rows.length];
    for (let at = from; at < until; at++) this.#row(at).erase(0, undefined, erased(this.#style));
    return what >= 2 || this.#eraseLine(what);
  }
}

/** A parameter. One that is missing, or above 65,535, counts as 0. */
function numberOf(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number < 65_536 ? number : 0;
}

/** Lines that a terminal displays for a text. */
export function settledLines(text: string): string[] {
  const screen = new Screen();
  screen.write(text);
  return screen.lines();
}

/** The lines as one text. A line's colours end with it, because the next line begins with its own. */
export function joinedLines(lines: readonly string[]): string {
  return lines.map((line) => (line.includes("\u001b[") ? `${line}\u001b[0m` : line)).join("\n");
}
