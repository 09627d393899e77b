// Splits text with ANSI colour escapes into parts of one colour. (terminal.ts handles cursor movement.)
import Anser from "anser";

export interface Part {
  text: string;
  className: string;
  color?: string;
  background?: string;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function parts(text: string): Part[] {
  if (!text.includes("\u001b")) return [{ text, className: "" }];
  const json = Anser.ansiToJson(text, { use_classes: true, remove_empty: true, json: true });
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
