// Search of commands by synonyms of their titles.
import { expect, test } from "vitest";
import { foundActions } from "../../src/commands/search.ts";
import { actions } from "../../src/commands/table.ts";

const first = (text: string) => foundActions(actions, text).map(({ id }) => id);

test("other words find the same command", () => {
  expect(first("remove cell")[0]).toBe("delete");
  expect(first("execute")).toContain("run");
  expect(first("search")).toContain("find");
  expect(first("dark")).toContain("editor-settings");
  expect(first("preferences")).toContain("editor-settings");
  expect(first("shortcuts")).toContain("help");
  expect(first("abort")).toEqual(expect.arrayContaining(["stop-all", "interrupt"]));
  expect(first("export")).toContain("download");
  expect(first("change the keys")[0]).toBe("edit-keys");
});

test("titles that have the words come first, and what nobody means is not found", () => {
  expect(first("run all")[0]).toBe("run-all");
  expect(first("delete")[0]).toBe("delete");
  expect(first("")).toEqual(actions.map(({ id }) => id));
  expect(first("quaternion")).toEqual([]);
});
