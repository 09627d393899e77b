import { expect, test } from "vitest";
import { withMerge, withSplit } from "../../src/app/cells/threads.ts";
import { Document } from "../../src/protocol/document.ts";
import type { Thread } from "../../src/protocol/messages.ts";

function commented(): Document {
  const document = new Document("nb");
  const thread = (cell_id: string, range?: [number, number]): Thread => ({ cell_id, comments: [], ...(range && { range }) });
  document.threads.set("whole", thread("a"));
  document.threads.set("before", thread("a", [0, 6]));
  document.threads.set("behind", thread("a", [6, 9]));
  document.threads.set("gone", thread("a", [7, 7]));
  document.threads.set("other", thread("b", [8, 9]));
  return document;
}

test("the threads of the text behind a split go with it", () => {
  expect(withSplit(commented(), "a", 5, "n")).toEqual([
    { MoveThread: { thread_id: "behind", place: { cell_id: "n", range: [1, 4] } } },
    { MoveThread: { thread_id: "gone", place: { cell_id: "n", range: [2, 2] } } },
  ]);
});

test("all threads of a cell go with its text into another", () => {
  expect(withMerge(commented(), "b", 10, "a")).toEqual([
    { MoveThread: { thread_id: "other", place: { cell_id: "a", range: [18, 19] } } },
  ]);
  expect(withMerge(commented(), "a", 3, "b")[0]).toEqual({ MoveThread: { thread_id: "whole", place: { cell_id: "b" } } });
});
