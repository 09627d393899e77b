// Colours and attributes of characters (SGR), read from escape sequences and written as such.

/** Look of a character. Styles with the same look are the same object. */
export interface Style {
  /** SGR codes of the colours; empty: the default colour. */
  readonly fore: string;
  readonly back: string;
  /** Attributes from 1 (bold) to 9 (struck out), in order. */
  readonly attributes: string;
  /** Escape sequence that begins this look after none. */
  readonly escape: string;
}

const ESCAPE = "\u001b[";
/** Most styles that are remembered, for programs that paint gradients. */
const MOST_STYLES = 4_096;
const styles = new Map<string, Style>();
export const PLAIN: Style = { fore: "", back: "", attributes: "", escape: "" };

function styleOf(fore: string, back: string, attributes: string): Style {
  const codes = [...attributes, fore, back].filter((code) => code !== "").join(";");
  if (codes === "") return PLAIN;
  const known = styles.get(codes);
  if (known) return known;
  if (styles.size >= MOST_STYLES) styles.clear();
  const style = { fore, back, attributes, escape: `${ESCAPE}${codes}m` };
  styles.set(codes, style);
  return style;
}

export const isSame = (one: Style, other: Style) => one === other || one.escape === other.escape;

/** Look of an erased place: its background alone. */
export const erased = ({ back }: Style): Style => styleOf("", back, "");

/** Escape sequences that turn one style into another. */
export function change(from: Style, to: Style): string {
  if (isSame(from, to)) return "";
  return (from.escape === "" ? "" : "\u001b[0m") + to.escape;
}

/** The style after an SGR sequence with these parameters. */
export function styled(style: Style, parameters: string): Style {
  if (parameters === "0") return PLAIN;
  const parts = parameters.split(";");
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const code = part === "" ? 0 : Number(part);
    if (part.includes(":")) style = detailed(style, part);
    else if (code === 38 || code === 48 || code === 58) {
      const { colour, count } = colourOf(parts, at + 1);
      if (colour !== "") style = coloured(style, code, colour);
      at += count;
    } else style = applied(style, code);
  }
  return style;
}

function coloured(style: Style, code: number, colour: string): Style {
  if (code === 38) return styleOf(`38;${colour}`, style.back, style.attributes);
  // 58 is the colour of an underline.
  return code === 48 ? styleOf(style.fore, `48;${colour}`, style.attributes) : style;
}

/** Codes that end two attributes. */
const ENDS: Record<number, string> = { 22: "12", 25: "56" };

function applied(style: Style, code: number): Style {
  const { fore, back, attributes } = style;
  if (code === 0) return PLAIN;
  if (code >= 1 && code <= 9) {
    return attributes.includes(String(code)) ? style : styleOf(fore, back, [...attributes, code].sort().join(""));
  }
  if (code >= 22 && code <= 29) {
    const ended = ENDS[code] ?? String(code - 20);
    return styleOf(fore, back, [...attributes].filter((one) => !ended.includes(one)).join(""));
  }
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return styleOf(String(code), back, attributes);
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return styleOf(fore, String(code), attributes);
  if (code === 39) return styleOf("", back, attributes);
  return code === 49 ? styleOf(fore, "", attributes) : style;
}

/** A number below 256, or undefined. */
function byteOf(text: string | undefined): number | undefined {
  const number = text === undefined || !/^\d+$/.test(text) ? 256 : Number(text);
  return number < 256 ? number : undefined;
}

/** Reads `5;INDEX` or `2;RED;GREEN;BLUE`, up to the first parameter that is no byte. */
function colourOf(parts: string[], at: number): { colour: string; count: number } {
  const kind = byteOf(parts[at]);
  const length = kind === 5 ? 2 : kind === 2 ? 4 : 1;
  const codes = parts.slice(at, at + length).map(byteOf);
  const bad = codes.indexOf(undefined);
  if (bad >= 0) return { colour: "", count: bad + 1 };
  return { colour: length > 1 && codes.length === length ? codes.join(";") : "", count: length };
}

/** Applies a parameter with parts: `4:3` (kinds of underlines), `38:5:1`, `38:2::1:2:3`. */
function detailed(style: Style, part: string): Style {
  const [code, ...details] = part.split(":");
  const numbers = details.map((detail) => byteOf(detail) ?? 0);
  if (code === "4") return applied(style, numbers[0] === 0 ? 24 : 4);
  if (code !== "38" && code !== "48") return style;
  if (numbers[0] === 5 && numbers.length > 1) return coloured(style, Number(code), `5;${numbers[1]}`);
  // The place of the colour space is often empty, or left out.
  const first = numbers.length === 4 ? 1 : 2;
  const isExact = numbers[0] === 2 && numbers.length > 3;
  if (isExact) return coloured(style, Number(code), [2, ...numbers.slice(first, first + 3)].join(";"));
  return applied(style, code === "38" ? 39 : 49);
}
