import { expect, test } from "vitest";
import { marked, markedLine, missingWords, placeWords, rangesOf, versionWords } from "../../src/app/cells/pastPlaces.ts";

const place = { cell_id: "b", line: "x", is_deleted: false };

test("a place says where it is, and in which versions", () => {
  expect(placeWords({ ...place, line_number: 5 }, ["a", "b"])).toBe("Cell 2, line 5");
  expect(placeWords(place, ["a"])).toBe("Deleted cell");
  expect(versionWords({ ...place, first: 5, last: 12 })).toBe("versions 5–12");
  expect(versionWords({ ...place, first: 5, last: 5 })).toBe("version 5");
  expect(versionWords({ ...place, first: 5 })).toBe("since version 5");
  expect(versionWords(place)).toBeUndefined();
});

test("an answer says what it may lack", () => {
  const answer = { found: [], is_complete: false, looked_up_to: 20_000 };
  expect(missingWords(answer, "text", 30_000)).toMatch(/up to version 20,000 of 30,000/);
  expect(missingWords({ ...answer, looked_up_to: 30_000 }, "te", 30_000)).toMatch(/at least three characters/);
  expect(missingWords({ ...answer, looked_up_to: 30_000 }, "text", 30_000)).toMatch(/longer text/);
  expect(missingWords({ found: [], is_complete: true, looked_up_to: 7 }, "text", 7)).toBe("No cell ever held this text.");
  expect(missingWords({ found: [place], is_complete: true, looked_up_to: 7 }, "text", 7)).toBeUndefined();
});

test("marks cut tokens, whatever the text has", () => {
  const tokens = [
    { text: "def", className: "k" },
    { text: " total(", className: "" },
  ];
  expect(marked(tokens, "EF TO")).toEqual([
    { text: "d", className: "k", isMatch: false },
    { text: "ef", className: "k", isMatch: true },
    { text: " to", className: "", isMatch: true },
    { text: "tal(", className: "", isMatch: false },
  ]);
  expect(rangesOf("a.b a+b (", "a.b")).toEqual([[0, 3]]);
  expect(rangesOf("a.b a+b (", "(")).toEqual([[8, 9]]);
  expect(rangesOf("text", "")).toEqual([]);
});

test("a long line is shown from shortly before its match", () => {
  const line = `    ${"x".repeat(80)} secret`;
  const pieces = markedLine(line, "secret");
  expect(pieces.at(-1)).toEqual({ text: "secret", className: "", isMatch: true });
  expect(pieces[0]?.text).toMatch(/^…x{19} $/);
  expect(markedLine("    y = 1", "y")[0]?.text).toBe("y");
});
