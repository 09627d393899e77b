// Assistant's work on the page: review of a turn, ends of calls, differences by word.
import { expect, test } from "vitest";
import { diffOf } from "../../src/app/cells/diff.ts";
import { Review } from "../../src/app/state/review.ts";
import { endOf, joined, repeatsOf, resultsOf, saidOf, stateOf, withoutIds } from "../../src/app/words/talk.ts";
import { effectWords, reviewWords } from "../../src/app/words/toolWords.ts";
import type { Cell, EventMessage, MessagePosted } from "../../src/protocol/messages.ts";

const assistant = { kind: "assistant", for_user: "ann", conversation: "c1" };
const event = (type: string, payload: object, more: object = {}): EventMessage =>
  ({ type, payload, actor: assistant, correlation_id: "call1", ...more }) as unknown as EventMessage;
const was = (source: string) => ({ source }) as Cell;

function working(): Review {
  const review = new Review();
  review.hear(event("TurnStarted", { turn_id: "t1", conversation_id: "c1" }, { actor: { kind: "user", id: "ann" } }), undefined);
  review.hear(event("ToolCallRequested", { call_id: "call1", turn_id: "t1" }), undefined);
  return review;
}

test("the version of a registered function is not told to people", () => {
  const what = 'calls cancel_order, version "3f9a". Its author says: Cancels. Risk, by its author: Cannot be undone.';
  expect(effectWords(what, [])).toBe("Calls cancel_order. Its author says: Cancels. Risk, by its author: Cannot be undone.");
  expect(effectWords("undoes what the assistant did before", [])).toBe("Undoes what the assistant did before.");
});

test("what a turn changes is marked by kind, with the text before it", () => {
  const review = working();
  expect(review.hear(event("CellSourceEdited", { cell_id: "a" }), was("old"))).toEqual(["a"]);
  review.hear(event("CellSourceEdited", { cell_id: "a" }, { correlation_id: "call2" }), was("newer"));
  review.hear(event("CellInserted", { cell_id: "b" }), undefined);
  review.hear(event("CellSourceEdited", { cell_id: "b" }), was(""));
  expect([...review.cells].map(([id, { kind, before }]) => [id, kind, before])).toEqual([
    ["a", "changed", "old"],
    ["b", "created", ""],
  ]);
});

test("people's own changes are none of it; neither are those of an older turn, nor what was made and deleted", () => {
  const review = working();
  expect(review.hear(event("CellSourceEdited", { cell_id: "a" }, { actor: { kind: "user", id: "bo" } }), was(""))).toEqual([]);
  review.hear(event("CellInserted", { cell_id: "b" }), undefined);
  review.hear(event("CellDeleted", { cell_id: "b" }), was(""));
  expect(review.cells.size).toBe(0);
  review.hear(event("TurnStarted", { turn_id: "t2", conversation_id: "c1" }), undefined);
  expect(review.hear(event("CellSourceEdited", { cell_id: "a" }), was(""))).toEqual([]);
});

test("what is undone or kept is no longer marked", () => {
  const review = working();
  review.hear(event("CellSourceEdited", { cell_id: "a" }), was("x"));
  review.hear(event("CellSourceEdited", { cell_id: "b" }), was("y"));
  review.hear(
    event("CellSourceEdited", { cell_id: "a" }, { undoes: "call1", correlation_id: "u", actor: { kind: "user" } }),
    was("z"),
  );
  expect([...review.cells.keys()]).toEqual(["b"]);
  expect(review.keep("b")).toEqual(["b"]);
  expect(review.cells.size).toBe(0);
});

test("how a call ended is told in words", () => {
  const end = (type: string, payload: object) => endOf(event(type, { call_id: "x", ...payload }))?.[1];
  expect(end("ToolCallDenied", { detail: "not now" })).toEqual({ state: "Denied", words: "not now", isBad: true });
  expect(end("ToolCallExecuted", { end: "ok", duration_ms: 1_500 })).toEqual({ state: "", words: "1.5 s", isBad: false });
  expect(end("ToolCallExecuted", { end: "error", duration_ms: 1 })).toEqual({ state: "Failed", words: "", isBad: true });
  expect(end("ToolCallExecuted", { end: "of_a_later_version" })?.state).toBe("of a later version");
  expect(endOf(event("CellMoved", { cell_id: "a" }))).toBeUndefined();
});

test("results are found by their call, and a message that comes twice is one", () => {
  const result = { tool_result: { provider_id: "p", call_id: "x", text: "done", is_error: false } };
  const messages = [{ id: "1", role: "tool", blocks: [result], turn: "t", isPartial: false }];
  expect(resultsOf(messages).get("x")).toEqual({ text: "done", isError: false });
  // A result that refers to the end of its call, and a block of a later version.
  const refers = [{ tool_result: { provider_id: "p", call_id: "y" } }, "word" as never];
  const ends = new Map([endOf(event("ToolCallExecuted", { call_id: "y", end: "ok", result: "much" }))!]);
  expect(resultsOf([{ id: "2", role: "tool", blocks: refers, turn: "t", isPartial: false }], ends).get("y")).toEqual({
    text: "much",
    isError: false,
  });
  expect(joined(messages, [{ ...messages[0]!, role: "later" }]).map(({ role }) => role)).toEqual(["later"]);
});

test("a difference names words, and leaves out what is far from it", () => {
  const words = diffOf("the old text", "the new text");
  expect(words.map(({ kind, text }) => [kind, text])).toEqual([
    ["same", "the "],
    ["removed", "old"],
    ["added", "new"],
    ["same", " text"],
  ]);
  const lines = Array.from({ length: 40 }, (_, line) => `line ${line}`);
  const far = diffOf(lines.join("\n"), lines.with(20, "other").join("\n"));
  expect(far.filter(({ kind }) => kind === "left out").length).toBe(2);
  expect(far.map(({ text }) => text.split("\n").length).reduce((sum, count) => sum + count)).toBeLessThan(20);
  expect(diffOf("same", "same")).toEqual([{ kind: "same", text: "same" }]);
});

test("the half of an answer that was stopped is marked, and a whole one is not", () => {
  const posted = {
    conversation_id: "c1",
    message_id: "m",
    turn_id: "t1",
    role: "assistant",
    blocks: [{ text: { text: "Half" } }],
  } as MessagePosted;
  expect(saidOf(posted)).toEqual({ id: "m", role: "assistant", blocks: posted.blocks, turn: "t1", isPartial: false });
  expect(saidOf({ ...posted, is_partial: true }).isPartial).toBe(true);
});

test("a call that only runs or deletes a cell is no change to it", () => {
  expect(reviewWords(1, 0, [["execute_cell"]])).toBe("The assistant changed 1 cell, wants to run 1 cell");
  expect(reviewWords(0, 0, [["delete_cell"], ["delete_cell"]])).toBe("The assistant wants to delete 2 cells");
  expect(reviewWords(0, 1, [["modify_cell", "execute_cell"]])).toBe("The assistant deleted 1 cell, proposes changes to 1 cell");
});

test("questions are shown without the ids of cells", () => {
  expect(withoutIds("Cell 4 (01M8D2PJ80MYKJ6HZ2PCR2WRMA) failed: f(01M8)")).toBe("Cell 4 failed: f(01M8)");
  expect(withoutIds("f (01M8D2PJ80MYKJ6HZ2PCR2WRMA)")).toBe("f (01M8D2PJ80MYKJ6HZ2PCR2WRMA)");
});

test("a denied call reads as denied after a reload, when only its result is known", () => {
  const state = (text: string, isError: boolean) => stateOf({ text, isError });
  expect(state("A person said no: I need it", true)).toBe("Denied");
  expect([state("NameError: x", true), state("A person said no.", false)]).toEqual(["Failed", ""]);
});

test("a question that is asked again after a failure is one question", () => {
  const asked = (id: string, text: string, turn = id) => ({
    ...{ id, role: "user", blocks: [{ text: { text } }], turn, isPartial: false },
  });
  const answer = { ...asked("a", "half", "1"), role: "assistant" };
  const failed =
    (...turns: string[]) =>
    (turn: string) =>
      turns.includes(turn);
  const thrice = [asked("1", "why?"), answer, asked("2", "why?"), asked("3", "why?")];
  expect([...repeatsOf(thrice, failed("1", "2"))]).toEqual([["1", ["2", "3"]]]);
  expect([...repeatsOf(thrice, failed("2"))]).toEqual([["2", ["3"]]]);
  expect(repeatsOf(thrice, failed()).size).toBe(0);
  expect(repeatsOf([asked("1", "why?"), asked("2", "how?"), asked("3", "why?")], failed("1", "2")).size).toBe(0);
});
