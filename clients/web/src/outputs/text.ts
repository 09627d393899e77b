// Splits text with ANSI colour escapes into parts of one look. (terminal.ts handles cursor movement.)
import { type Rgb, groundFor, inkFor, inkOn } from "./contrast.ts";

export interface Part {
  text: string;
  className: string;
  color?: string;
  background?: string;
}

/** The 16 colours of a terminal are the page's, light and dark; others are as the program gives them. */
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

type Colour = { name: string } | { rgb: Rgb };

interface Look {
  ink?: Colour;
  ground?: Colour;
  isReversed?: boolean;
  /** Names of classes by the code that begins them. */
  kinds: Map<number, string>;
}

const KINDS: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 8: "hidden", 9: "strikethrough" };
/** Codes that end one kind or two. */
const ENDS: Record<number, number[]> = { 22: [1, 2], 23: [3], 24: [4], 28: [8], 29: [9] };

const ESCAPES = /\u001b\[([\d;:]*)m|\u001b\[[\d;:?]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;

export function parts(text: string): Part[] {
  if (!text.includes("\u001b")) return [{ text, className: "" }];
  const found: Part[] = [];
  const look: Look = { kinds: new Map() };
  let at = 0;
  const put = (until: number) => {
    if (until > at) found.push({ text: text.slice(at, until), ...shown(look) });
  };
  for (const match of text.matchAll(ESCAPES)) {
    put(match.index);
    at = match.index + match[0].length;
    if (match[1] !== undefined) take(look, match[1]);
  }
  put(text.length);
  return found;
}

function take(look: Look, parameters: string): void {
  // The form with colons has an empty place for the colour space: `38:2::r:g:b`.
  const plain = parameters
    .replace(/([345]8):2:\d*:(\d+):(\d+):(\d+)/g, "$1;2;$2;$3;$4")
    .replace(/(^|;)4:(\d)/g, (_, before: string, form: string) => before + (form === "0" ? "24" : "4"))
    .replaceAll(":", ";");
  const codes = plain.split(";").map((each) => Number.parseInt(each || "0", 10));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    // 58 is the colour of an underline.
    if (code === 38 || code === 48 || code === 58) {
      const { colour, count } = extended(codes.slice(at + 1));
      if (colour && code !== 58) look[code === 38 ? "ink" : "ground"] = colour;
      at += count;
    } else takeCode(look, code);
  }
}

function takeCode(look: Look, code: number): void {
  const kind = KINDS[code];
  if (code === 0) {
    look.kinds.clear();
    delete look.ink;
    delete look.ground;
    look.isReversed = false;
  } else if (kind !== undefined) look.kinds.set(code, kind);
  else if (code === 21) look.kinds.set(4, "underline");
  else if (code === 7 || code === 27) look.isReversed = code === 7;
  else if (code === 39) delete look.ink;
  else if (code === 49) delete look.ground;
  else if (code >= 30 && code <= 37) look.ink = named(code - 30);
  else if (code >= 40 && code <= 47) look.ground = named(code - 40);
  else if (code >= 90 && code <= 97) look.ink = named(code - 90 + 8);
  else if (code >= 100 && code <= 107) look.ground = named(code - 100 + 8);
  else for (const end of ENDS[code] ?? []) look.kinds.delete(end);
}

/** Bright colours are the plain ones, which are bright enough on both grounds; bright black is grey. */
const named = (index: number): Colour => ({ name: index === 8 ? "grey" : (NAMES[index % 8] ?? "") });

/** Colour of `5;INDEX` or `2;RED;GREEN;BLUE`, and the number of its codes. */
function extended([form, ...codes]: number[]): { colour?: Colour; count: number } {
  const byte = (code: number | undefined) => Math.min(255, code ?? 0);
  if (form === 5) return { ...(codes.length > 0 && { colour: ofPalette(byte(codes[0])) }), count: 2 };
  if (form !== 2) return { count: 1 };
  const [red, green, blue] = codes;
  return { ...(blue !== undefined && { colour: { rgb: [byte(red), byte(green), byte(blue)] } }), count: 4 };
}

/** The palette of 256: 16 names, a cube of 6 × 6 × 6, and 24 greys. */
function ofPalette(index: number): Colour {
  if (index < 16) return named(index);
  const grey = 8 + (index - 232) * 10;
  if (index >= 232) return { rgb: [grey, grey, grey] };
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const place = index - 16;
  return { rgb: [level(Math.floor(place / 36)), level(Math.floor(place / 6) % 6), level(place % 6)] };
}

function shown({ ink, ground, isReversed, kinds }: Look): Omit<Part, "text"> {
  const [fore, back] = isReversed ? [ground, ink] : [ink, ground];
  const names = [
    fore && "name" in fore ? `ansi-fg-${fore.name}` : isReversed && !fore ? "ansi-fg-reversed" : "",
    back && "name" in back ? `ansi-bg-${back.name}` : isReversed && !back ? "ansi-bg-reversed" : "",
    ...[...kinds].sort(([one], [other]) => one - other).map(([, name]) => `ansi-${name}`),
  ];
  return {
    className: names.filter((name) => name !== "").join(" "),
    ...inkOf(fore, back),
    ...(back && "rgb" in back && { background: groundFor(back.rgb) }),
  };
}

/** On a ground of the program's own its ink stays as it is; without an ink the text must be seen on it. */
function inkOf(fore: Colour | undefined, back: Colour | undefined): { color?: string } {
  const isOwn = back !== undefined && "rgb" in back;
  if (fore && "rgb" in fore) return { color: isOwn ? groundFor(fore.rgb) : inkFor(fore.rgb) };
  return isOwn && !fore ? { color: inkOn(back.rgb) } : {};
}
