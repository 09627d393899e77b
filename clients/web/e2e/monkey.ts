// Seeded monkey at the keyboard: it tracks the assumed focus, and whether a key is meant as text or as a command.
import type { Page } from "@playwright/test";

export type Place = "cells" | "editor" | "find" | "palette" | "settings" | "assistant" | "comment";

/** Seeded random generator (mulberry32). */
export function dice(seed: number) {
  let state = seed >>> 0;
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(roll() * end);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return { below, one };
}

export type Dice = ReturnType<typeof dice>;

/** Words whose letters are all commands outside an editor. */
const WORDS = [
  "dd",
  "b a",
  "mmy",
  "x = z",
  "zz top",
  "add dad",
  "r1 2",
  "cvv",
  "ii",
  "00",
  "o j k",
  "(",
  "Mx",
  "hm",
  "שלום",
  "né dd",
];
/** Keys pressed in command mode. */
const COMMANDS = [
  ..."bamyjkcvz",
  ...[
    "ArrowDown",
    "ArrowUp",
    "d d",
    "d d",
    "d d",
    "Alt+ArrowUp",
    "Shift+Z",
    "Alt+ArrowDown",
    "Alt+ArrowUp",
    "Shift+M",
    "1",
    "Shift+ArrowDown",
    "Escape",
  ],
];
/** Keys that open a panel or dialog from anywhere in the notebook. */
const OPENERS: [string, Place][] = [
  ["Control+f", "find"],
  ["Control+Shift+P", "palette"],
  ["Control+,", "settings"],
  ["Control+Shift+A", "assistant"],
  ["Control+Alt+m", "comment"],
];
/** Keys that edit text without leaving the cell. */
const EDITING = [
  "Backspace",
  "Delete",
  "Home",
  "End",
  "Enter",
  "Control+z",
  "ArrowLeft",
  "Control+a",
  "Shift+Home",
  "Control+ArrowLeft",
];

export interface Act {
  kind: "text" | "command" | "go";
  words: string;
  keys: number;
  do: () => Promise<void>;
  leads: Place;
}

export class Monkey {
  place: Place = "editor";

  constructor(
    readonly name: string,
    readonly page: Page,
    readonly actor: string,
    private readonly dice: Dice,
    /** A restless monkey leaves cells more often, and then moves and deletes cells, also those that the other one edits. */
    private readonly temper: "calm" | "restless" = "calm",
  ) {}

  /** True if the edited cell was removed by others: the monkey often types on without noticing. */
  private isLost = false;
  private last: Act["kind"] = "go";

  next(): Act {
    const act = this.isLost && this.dice.below(10) < 7 ? this.write() : this.choose();
    this.last = act.kind;
    return act;
  }

  private choose(): Act {
    const isRestless = this.temper === "restless" && this.place === "editor" && this.dice.below(3) > 0;
    if (isRestless) return this.leave();
    const roll = this.dice.below(100);
    if (this.place === "cells") return roll < 55 ? this.command() : roll < 85 ? this.click() : this.open();
    if (roll < 60) return this.write();
    if (this.place === "editor") return roll < 75 ? this.edit() : roll < 85 ? this.leave() : roll < 93 ? this.open() : this.click();
    return this.leave();
  }

  private write(): Act {
    const words = Array.from({ length: 1 + this.dice.below(3) }, () => this.dice.one(WORDS)).join(" ");
    const isBox = this.place === "settings";
    if (isBox) return this.leave();
    return this.act("text", `types “${words}”`, words.length, () => this.page.keyboard.type(words), this.place);
  }

  private edit(): Act {
    const key = this.dice.one(EDITING);
    return this.act("text", `presses ${key}`, 1, () => this.page.keyboard.press(key), "editor");
  }

  private command(): Act {
    const keys = this.dice.one(COMMANDS).split(" ");
    const press = async () => {
      for (const key of keys) await this.page.keyboard.press(key);
    };
    return this.act("command", `presses ${keys.join(" ")}`, keys.length, press, "cells");
  }

  private click(): Act {
    const at = this.dice.below(50);
    const click = async () => {
      const sources = this.page.locator(".cell .source");
      const count = await sources.count();
      // The element may vanish before the click: a person would miss it too.
      if (count > 0)
        await sources
          .nth(at % count)
          .click({ timeout: 5_000, force: true, position: { x: 40, y: 12 } })
          .catch(() => undefined);
    };
    return this.act("go", `clicks into a cell (${at})`, 1, click, "editor");
  }

  private open(): Act {
    const [key, place] = this.dice.one(OPENERS);
    return this.act("go", `presses ${key}`, 1, () => this.page.keyboard.press(key), place);
  }

  private leave(): Act {
    const times = this.place === "editor" || this.place === "palette" || this.place === "settings" ? 1 : 2;
    const press = async () => {
      for (let time = 0; time < times; time += 1) await this.page.keyboard.press("Escape");
      if (this.place === "assistant") await this.page.keyboard.press("Control+Shift+A");
    };
    return this.act("go", "presses Escape", times, press, "cells");
  }

  private act(kind: Act["kind"], words: string, keys: number, run: Act["do"], leads: Place): Act {
    return { kind, words: `${this.name} in ${this.place}: ${words}`, keys, do: run, leads };
  }

  /** Reads the real focus, which may differ from the assumed one. */
  async look(): Promise<void> {
    const before = this.place;
    this.place = await this.page.evaluate(() => {
      const at = document.activeElement;
      if (at?.closest(".cm-editor")) return "editor";
      if (at?.closest(".find")) return "find";
      if (at?.closest(".comment-field")) return "comment";
      if (at?.closest(".composer")) return "assistant";
      if (at?.closest(".settings")) return "settings";
      if (at?.closest("[role=dialog]")) return "palette";
      return "cells";
    });
    this.isLost = before !== "cells" && this.place === "cells" && this.last === "text";
  }
}
