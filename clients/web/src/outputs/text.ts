// Text of programs: `\r` and `\b` move back, ANSI escapes colour.
import Anser from "anser";

export interface Part {
  text: string;
  className: string;
  color?: string;
  background?: string;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** What a terminal would show: after a carriage return the line is written over. */
export function settle(text: string): string {
  if (!/[\r\b]/.test(text)) return text;
  return text.replaceAll("\r\n", "\n").split("\n").map(settleLine).join("\n");
}

function settleLine(line: string): string {
  if (!/[\r\b]/.test(line)) return line;
  let shown = "";
  for (const part of line.split("\r"))
    if (part !== "") shown = part.length >= shown.length || part.includes("\u001b") ? part : part + shown.slice(part.length);
  let erased = "";
  for (const character of shown) erased = character === "\b" ? erased.slice(0, -1) : erased + character;
  return erased;
}

export function parts(text: string): Part[] {
  const json = Anser.ansiToJson(settle(text), { use_classes: true, remove_empty: true, json: true });
  return json.map((part) => {
    const decorations = part.decorations.map((name) => `ansi-${name}`);
    const names = [colour("fg", part.fg), colour("bg", part.bg)].filter((name) => name !== "");
    const color = rgb(part.fg_truecolor);
    const background = rgb(part.bg_truecolor);
    return {
      text: part.content,
      className: [...names, ...decorations].join(" "),
      ...(color && { color }),
      ...(background && { background }),
    };
  });
}

function colour(ground: "fg" | "bg", name: string | null): string {
  const plain = name?.replace(/^ansi-/, "").replace(/^bright-/, "") ?? "";
  return NAMES.includes(plain) ? `ansi-${ground}-${plain}` : "";
}

function rgb(value: string | null): string | undefined {
  return value ? `rgb(${value})` : undefined;
}
