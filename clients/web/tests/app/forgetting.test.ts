// After a redaction the browser stores nothing of the removed content.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keep, kept } from "../../src/app/cells/clipboard.ts";
import { keepDrafts, takeDrafts } from "../../src/app/session/drafts.ts";
import { forgetOlder } from "../../src/app/state/forgetting.ts";
import { keepInline, keptInline } from "../../src/app/state/inlineField.ts";

class FakeStorage {
  [name: string]: unknown;

  constructor() {
    const methods = {
      getItem: (name: string) => (Object.hasOwn(this, name) ? (this[name] as string) : null),
      setItem: (name: string, text: string) => void (this[name] = text),
      removeItem: (name: string) => void delete this[name],
    };
    for (const [name, value] of Object.entries(methods)) Object.defineProperty(this, name, { value });
  }
}

beforeEach(() => {
  vi.stubGlobal("localStorage", new FakeStorage());
  vi.stubGlobal("sessionStorage", new FakeStorage());
});
afterEach(() => void vi.unstubAllGlobals());

const SECRET = "hunter2";
const stored = () => JSON.stringify([localStorage, sessionStorage]);

function store(epoch: number, notebook = "n"): void {
  keepDrafts(notebook, [{ cell: `c${epoch}`, text: `key = ${SECRET}`, epoch }]);
  const asked = { cell: "c", marked: SECRET, conversation: "k", question: "why?", isSent: true, epoch };
  keepInline(`${notebook}.ann`, asked);
  keep([{ cell_type: "code", source: SECRET }], { notebook, epoch });
}

test("drafts, questions and copied cells of before a redaction go", () => {
  store(0);
  expect(stored()).toContain(SECRET);
  forgetOlder({ notebook: "n", epoch: 12 });
  expect(stored()).not.toContain(SECRET);
  expect(kept()).toEqual([]);
  expect(takeDrafts("n")).toEqual([]);
});

test("what was stored since, and what is of another notebook, stays", () => {
  store(12);
  forgetOlder({ notebook: "n", epoch: 12 });
  expect([kept().length, takeDrafts("n").length, keptInline("n.ann")?.epoch]).toEqual([1, 1, 12]);
  store(0, "other");
  forgetOlder({ notebook: "n", epoch: 12 });
  expect([kept().length, takeDrafts("other").length, keptInline("other.ann")?.marked]).toEqual([1, 1, SECRET]);
  store(0);
  forgetOlder({ notebook: "n", epoch: 0 });
  expect(takeDrafts("n")).toHaveLength(1);
});

test("drafts of before and after a redaction: only the older go", () => {
  keepDrafts("n", [{ cell: "a", text: SECRET }]);
  keepDrafts("n", [{ cell: "b", text: "mine", epoch: 12 }]);
  forgetOlder({ notebook: "n", epoch: 12 });
  expect(takeDrafts("n").map(({ text }) => text)).toEqual(["mine"]);
});
