// Splits text with colour escapes into parts of one look. (terminal.ts handles cursor movement.)
import { type Rgb, groundFor, inkFor, inkOn } from "./contrast.ts";
import { nextPart, skipped } from "./escapes.ts";
import { PLAIN, type Style, styled } from "./sgr.ts";

export interface Part {
  text: string;
  className: string;
  color?: string;
  background?: string;
}

/** The 16 colours of a terminal are the page's, light and dark; others are as the program gives them. */
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

type Colour = { name: string } | { rgb: Rgb };

/** Names of classes by attribute. */
const KINDS: Record<string, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 8: "hidden", 9: "strikethrough" };

export function parts(text: string): Part[] {
  if (!text.includes("\u001b")) return [{ text, className: "" }];
  const found: Part[] = [];
  let [from, style, look] = [0, PLAIN, shown(PLAIN)];
  const put = (until: number) => {
    if (until > from) found.push({ text: text.slice(from, until), ...look });
  };
  for (let at = text.indexOf("\u001b"); at >= 0; at = text.indexOf("\u001b", from)) {
    put(at);
    const part = nextPart(text, at);
    from = skipped(text, at, part);
    if (part.kind !== "csi" || part.final !== "m") continue;
    style = styled(style, part.parameters);
    look = shown(style);
  }
  put(text.length);
  return found;
}

/** Bright colours are the plain ones, which are bright enough on both grounds; bright black is grey. */
const named = (index: number): Colour => ({ name: index === 8 ? "grey" : (NAMES[index % 8] ?? "") });

/** Colour of SGR codes: one code, `38;5;INDEX` or `38;2;RED;GREEN;BLUE`. */
function colourOf(codes: string): Colour | undefined {
  if (codes === "") return undefined;
  const [code = 0, form, ...rest] = codes.split(";").map(Number);
  if (form === 5) return ofPalette(rest[0] ?? 0);
  if (form === 2) return { rgb: [rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0] };
  return named((code % 10) + (code >= 90 ? 8 : 0));
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

function shown({ fore: ink, back: ground, attributes }: Style): Omit<Part, "text"> {
  const isReversed = attributes.includes("7");
  const [fore, back] = (isReversed ? [ground, ink] : [ink, ground]).map(colourOf);
  const names = [
    fore && "name" in fore ? `ansi-fg-${fore.name}` : isReversed && !fore ? "ansi-fg-reversed" : "",
    back && "name" in back ? `ansi-bg-${back.name}` : isReversed && !back ? "ansi-bg-reversed" : "",
    ...[...attributes].flatMap((attribute) => (KINDS[attribute] ? [`ansi-${KINDS[attribute]}`] : [])),
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
