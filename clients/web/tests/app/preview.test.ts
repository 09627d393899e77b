import { expect, test } from "vitest";
import { previewKind, rowsOf, textOf } from "../../src/app/files/preview.ts";

test("rows of separated values, with what is quoted", () => {
  expect(rowsOf('a,b\n1,"x, ""y""\nz"\n\n2,', false)).toEqual({
    head: ["a", "b"],
    rows: [
      ["1", 'x, "y"\nz'],
      ["2", ""],
    ],
    hasMore: false,
  });
  expect(rowsOf("a;b\r\n1;2\r\n", false)).toEqual({ head: ["a", "b"], rows: [["1", "2"]], hasMore: false });
  expect(rowsOf("a\tb\n1\t2", false).rows).toEqual([["1", "2"]]);
});

test("a torn last row is left out, and that there is more is said", () => {
  expect(rowsOf("a,b\n1,2\n3,", true)).toEqual({ head: ["a", "b"], rows: [["1", "2"]], hasMore: true });
  const many = rowsOf("a\n" + "1\n".repeat(1_000), false);
  expect([many.rows.length, many.hasMore]).toEqual([200, true]);
});

test("text is text, also where it is cut within a letter", () => {
  const bytes = new TextEncoder().encode("été 😀");
  expect(textOf(bytes, false)).toBe("été 😀");
  expect(textOf(bytes.subarray(0, bytes.length - 1), true)).toBe("été ");
  expect(textOf(bytes.subarray(0, bytes.length - 1), false)).toBeUndefined();
  expect(textOf(new Uint8Array([80, 75, 3, 4, 0, 255]), false)).toBeUndefined();
});

test("the kind of a preview, by name", () => {
  expect(["a.PNG", "a.svg", "a.csv", "a.tsv", "a.py", "a.csv.gz", "a"].map(previewKind)).toEqual([
    ...["picture", "picture", "table", "table", "text", "text", "text"],
  ]);
});
