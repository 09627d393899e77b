// Terminal emulation for program output: `\r`, `\b` and escapes move the cursor and erase. Colours stay as escapes.

interface Row {
  /** Text with colour escapes, independent of other rows. */
  text: string;
  /** Number of visible characters. */
  length: number;
  /** Colours at the end of the row. */
  style: string;
}

interface Character {
  text: string;
  style: string;
}

/** Limit of the width: real programs stay below it, and larger cursor moves would waste memory. */
const MOST_COLUMNS = 1_000;
const TOKENS =
  /\u001b\[([\d;:?]*)([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[()][\dA-B]|\u001b.?|[\r\n\b]|[^\u001b\r\n\b]+/gs;
/** Incomplete escape at the end of a piece; it continues in the next piece. */
const UNFINISHED = /\u001b(?:\[[\d;:?]{0,40}|\][^\u0007\u001b]{0,2000})?$/;
const COLOUR = /\u001b\[([\d;:]*)m/g;

export class Screen {
  /** All text written so far. */
  text = "";
  #rows: Row[] = [{ text: "", length: 0, style: "" }];
  #x = 0;
  #y = 0;
  #style = new Style();
  #rest = "";
  #lines: string[] = [];
  /** Rows before this one are unchanged in `#lines`. */
  #unchanged = 0;

  write(more: string): void {
    this.text += more;
    const all = this.#rest + more;
    this.#rest = UNFINISHED.exec(all)?.[0] ?? "";
    for (const [token, parameters, final] of all.slice(0, all.length - this.#rest.length).matchAll(TOKENS)) {
      if (final === "m") this.#style.take(parameters ?? "");
      else if (final !== undefined) this.#move(final, parameters ?? "");
      else if (token === "\n") this.#newLine();
      else if (token === "\r") this.#x = 0;
      else if (token === "\b") this.#takeBack();
      else if (!token.startsWith("\u001b")) this.#put(token);
    }
  }

  /** Lines of the screen, each with its own colour escapes. */
  lines(): string[] {
    for (let at = this.#unchanged; at < this.#rows.length; at++) this.#lines[at] = this.#rows[at]?.text ?? "";
    this.#lines.length = this.#unchanged = this.#rows.length;
    return this.#lines.slice();
  }

  #changes(row: number): void {
    this.#unchanged = Math.min(this.#unchanged, row);
  }

  get #row(): Row {
    this.#changes(this.#y);
    return (this.#rows[this.#y] ??= { text: "", length: 0, style: "" });
  }

  #put(text: string): void {
    const row = this.#row;
    const { escape } = this.#style;
    const length = /[\ud800-\udfff]/.test(text) ? [...text].length : text.length;
    if (this.#x === row.length) {
      row.text += (row.style === escape ? "" : `${row.style === "" ? "" : "\u001b[0m"}${escape}`) + text;
      Object.assign(row, { style: escape, length: row.length + length });
    } else {
      const characters = charactersOf(row.text);
      while (characters.length < this.#x) characters.push({ text: " ", style: "" });
      characters.splice(this.#x, length, ...[...text].map((each) => ({ text: each, style: escape })));
      this.#replace(characters);
    }
    this.#x += length;
  }

  #newLine(): void {
    this.#y += 1;
    this.#x = 0;
    void this.#row;
  }

  /** Backspace deletes the character, as in Jupyter. */
  #takeBack(): void {
    if (this.#x === 0) return;
    this.#x -= 1;
    const characters = charactersOf(this.#row.text);
    characters.splice(this.#x, 1);
    this.#replace(characters);
  }

  #replace(characters: Character[]): void {
    this.#changes(this.#y);
    this.#rows[this.#y] = rowOf(characters);
  }

  #move(final: string, parameters: string): void {
    const [first, second] = parameters.split(";").map((each) => Number.parseInt(each, 10));
    const count = Math.max(1, first || 1);
    const down = (by: number) => (this.#y = Math.max(0, Math.min(this.#rows.length - 1, this.#y + by)));
    const column = (to: number) => (this.#x = Math.max(0, Math.min(MOST_COLUMNS, to)));
    if (final === "A") down(-count);
    else if (final === "B") down(count);
    else if (final === "C") column(this.#x + count);
    else if (final === "D") column(this.#x - count);
    else if (final === "E" || final === "F") (down(final === "E" ? count : -count), column(0));
    else if (final === "G") column(count - 1);
    else if (final === "H" || final === "f") ((this.#y = 0), down(count - 1), column((second || 1) - 1));
    else if (final === "K") this.#eraseLine(first || 0);
    else if (final === "J") this.#eraseBelow(first || 0);
  }

  /** Erases in the line: 0 to the end, 1 to the cursor, 2 all. */
  #eraseLine(what: number): void {
    const characters = charactersOf(this.#row.text);
    const blank = { text: " ", style: "" };
    if (what === 0) this.#replace(characters.slice(0, this.#x));
    else if (what === 1) this.#replace(characters.map((each, at) => (at <= this.#x ? blank : each)));
    else this.#replace([]);
  }

  #eraseBelow(what: number): void {
    if (what === 0) {
      this.#eraseLine(0);
      this.#rows.length = this.#y + 1;
    } else if (what >= 2) {
      this.#changes(0);
      this.#rows = [{ text: "", length: 0, style: "" }];
      this.#y = 0;
    }
  }
}

/** Active colours: one parameter of each kind. */
class Style {
  readonly #kinds = new Map<string, string>();
  escape = "";

  take(parameters: string): void {
    const plain = parameters
      .replace(/([345]8):2:\d*:(\d+):(\d+):(\d+)/g, "$1;2;$2;$3;$4")
      .replace(/(^|;)4:(\d)/g, (_, before: string, form: string) => before + (form === "0" ? "24" : "4"))
      .replaceAll(":", ";");
    const codes = plain.split(";").map((each) => Number.parseInt(each || "0", 10));
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at] ?? 0;
      const extra = ![38, 48, 58].includes(code) ? 0 : codes[at + 1] === 5 ? 2 : codes[at + 1] === 2 ? 4 : 0;
      this.#set(code, codes.slice(at, at + 1 + extra).join(";"));
      at += extra;
    }
    this.escape = this.#kinds.size === 0 ? "" : `\u001b[${[...this.#kinds.values()].join(";")}m`;
  }

  #set(code: number, text: string): void {
    const kind = kindOfCode(code);
    if (code === 0) this.#kinds.clear();
    else if (code === 39 || code === 49 || (code >= 22 && code <= 29)) this.#kinds.delete(kind);
    else if (kind !== "") this.#kinds.set(kind, text);
  }
}

function kindOfCode(code: number): string {
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) return "text";
  if ((code >= 40 && code <= 49) || (code >= 100 && code <= 107)) return "ground";
  if (code === 1 || code === 2 || code === 22) return "weight";
  return code >= 3 && code <= 9 ? String(code) : code >= 23 && code <= 29 ? String(code - 20) : "";
}

function charactersOf(text: string): Character[] {
  const characters: Character[] = [];
  let [at, style] = [0, ""];
  const put = (until: number) => {
    for (const each of text.slice(at, until)) characters.push({ text: each, style });
  };
  for (const match of text.matchAll(COLOUR)) {
    put(match.index);
    at = match.index + match[0].length;
    style = match[1] === "0" ? "" : match[0];
  }
  put(text.length);
  return characters;
}

function rowOf(characters: Character[]): Row {
  let [text, style] = ["", ""];
  for (const each of characters) {
    if (each.style !== style) text += (style === "" ? "" : "\u001b[0m") + each.style;
    style = each.style;
    text += each.text;
  }
  return { text, length: characters.length, style };
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

export function withoutEscapes(text: string): string {
  return text.replace(/\u001b\[[\d;:?]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g, "");
}
