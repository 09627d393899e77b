// Search for commands by title and synonyms.
import type { Action } from "./table.ts";

/** Synonyms, one group per row. */
const SYNONYMS = [
  "delete remove trash erase",
  "run execute evaluate start calculate",
  "find search look replace",
  "stop cancel abort halt interrupt kill",
  "restart reset reboot",
  "insert add new create",
  "change convert turn make",
  "customize change configure own",
  "copy duplicate clone",
  "move shift drag",
  "undo revert back",
  "redo repeat",
  "clear empty wipe",
  "hide show fold unfold toggle open close",
  "collapse fold",
  "expand unfold open",
  "output outputs result results",
  "code source",
  "text markdown",
  "comment comments discuss note annotate",
  "history versions timeline changes",
  "deleted trash bin",
  "share invite access permissions people link",
  "download export save ipynb",
  "print pdf paper",
  "keyboard keys shortcuts hotkeys bindings",
  "assistant ai agent chat bot",
  "documentation docs help signature inspect",
  "autocomplete complete completion suggest",
  "authors blame who",
  "outline contents toc headings dependencies",
  "theme appearance colours colors mode",
  "settings preferences options configuration",
  "notify notification notifications alert",
  "merge join combine",
  "split divide",
  "format tidy style black ruff prettify",
  "definition declaration defined",
  "files folder upload data csv",
  "notebooks home list",
  "zen focus distraction fullscreen",
  "presentation present slides",
].map((row) => row.split(" "));

/** Search words of a command that its title lacks. */
const MORE: Record<string, string> = {
  "editor-settings": "vim line numbers wrap indent tabs font size width contrast theme dark light brackets diagnostics lint",
  kernel: "memory cpu processor sandbox session start shut down",
  fork: "fork duplicate notebook",
  share: "role guest",
  runs: "diff previous earlier",
  help: "cheat sheet",
};

/** Words ignored in searches. */
const SILENT = new Set(["the", "a", "an", "to", "of", "my", "this", "it"]);

const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Rank of an action: 0 by its title, 1 by synonyms; undefined without a match. */
function rank({ id, title }: Action, asked: string[]): number | undefined {
  const plain = title.toLowerCase();
  if (asked.every((word) => plain.includes(word))) return 0;
  const own = wordsOf(`${title} ${MORE[id] ?? ""}`);
  const known = [...own, ...SYNONYMS.filter((row) => row.some((word) => own.includes(word))).flat()];
  return asked.every((word) => plain.includes(word) || known.some((other) => other.startsWith(word))) ? 1 : undefined;
}

/** Matching actions, matches by title first. */
export function foundActions(actions: readonly Action[], text: string): Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !SILENT.has(word));
  // A single word is searched even if it is a stop word.
  const asked = words.length > 1 ? telling : words;
  const ranked = actions.flatMap((action) => {
    const at = rank(action, asked);
    return at === undefined ? [] : [{ action, at }];
  });
  return ranked.sort((a, b) => a.at - b.at).map(({ action }) => action);
}
