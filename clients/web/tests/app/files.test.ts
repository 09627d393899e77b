// Notices about imported and exported files.
import { expect, test } from "vitest";
import { arrived, importWords, takeArrival } from "../../src/app/session/arrivals.ts";
import { fileName, lackWords } from "../../src/app/files/download.ts";

test("a file that lacks outputs says how many", () => {
  expect(lackWords(null)).toBeUndefined();
  expect(lackWords("")).toBeUndefined();
  expect(lackWords("ab12")).toMatch(/^1 large output is missing in the file/);
  expect(lackWords("ab12, cd34")).toMatch(/^2 large outputs are missing in the file/);
  expect(lackWords(Array.from({ length: 50 }, () => "ab").join(","))).toMatch(/^50 or more large outputs/);
  expect(lackWords(null, "0")).toBeUndefined();
  expect(lackWords(null, "3")).toBe("Comments aren’t in the file.");
  expect(lackWords("ab12", "3")).toMatch(/^1 large output .* Comments aren’t in the file\.$/);
});

test("a file's name has nothing that a file system refuses", () => {
  expect(fileName('a/b: "c"?')).toBe("a b c");
  expect(fileName("../..")).toBe("Untitled");
  expect(fileName(" ")).toBe("Untitled");
  expect(fileName("Überblick 2026")).toBe("Überblick 2026");
});

test("what an import changed is told once, where the notebook opens", () => {
  const notices = [
    { code: "cell_id", count: 2, cell: 0, message: "2 ids were made" },
    { code: "upgraded", count: 1, message: "from nbformat 3" },
  ] as const;
  arrived("whole", []);
  arrived("nb", notices);
  expect(takeArrival("whole")).toBeUndefined();
  expect(takeArrival("nb")).toBe("The import changed 2 things: 2 ids were made (cell 1); from nbformat 3");
  expect(takeArrival("nb")).toBeUndefined();
  expect(importWords([{ code: "upgraded", count: 1, message: "from nbformat 3" }])).toMatch(/^The import changed 1 thing:/);
});
