// Answers being written: what is lost with a server is kept apart from the next attempt.
import { expect, test } from "vitest";
import { Writings } from "../../src/app/state/writings.ts";
import type { ActivityKind, TurnActivity } from "../../src/protocol/messages.ts";

const piece = (what: ActivityKind, attempt = 1, model_call = 1): TurnActivity => ({
  ...{ conversation_id: "c", turn_id: "t", model_call, attempt, what },
});
const words = (text: string, attempt = 1, call = 1) => piece({ type: "text_delta", block: 0, text }, attempt, call);
const event = (type: string, payload: object = {}) => ({ type, payload: { turn_id: "t", ...payload } });
const posted = (id: string, role = "assistant") => event("MessagePosted", { role, message_id: id, conversation_id: "c" });

test("a recorded answer replaces its text, and the next call begins anew", () => {
  const writings = new Writings();
  writings.receive([words("one "), words("two")]);
  expect(writings.text("t")).toBe("one two");
  writings.hear(posted("q", "user"));
  expect(writings.text("t")).toBe("one two");
  writings.hear(posted("m"));
  writings.receive([words("three", 1, 2)]);
  writings.hear(posted("n"));
  writings.hear(event("TurnFinished"));
  expect([writings.text("t"), writings.interrupted]).toEqual(["", []]);
});

test("a server that stopped leaves the half in sight, before the answer of the next attempt", () => {
  const writings = new Writings();
  writings.receive([words("half an ans")]);
  writings.miss();
  writings.hear(event("TurnModelCallFinished", { failure: "server_stopped" }));
  expect(writings.text("t")).toBe("");
  expect(writings.interrupted).toEqual([{ turn: "t", text: "half an ans", before: undefined }]);
  writings.receive([words("whole", 2)]);
  expect(writings.text("t")).toBe("whole");
  writings.hear(posted("m"));
  writings.hear(posted("n"));
  expect(writings.interrupted).toEqual([{ turn: "t", text: "half an ans", before: "m" }]);
});

test("the pieces of another attempt may come before the failure; a turn that ends with nothing recorded keeps the half too", () => {
  const writings = new Writings();
  writings.receive([words("half")]);
  writings.receive([words("again", 2)]);
  writings.hear(event("TurnFailed", { cause: "unavailable" }));
  expect(writings.interrupted.map(({ text }) => text)).toEqual(["half", "again"]);
  expect(writings.text("t")).toBe("");
});

test("an attempt that the provider broke off is written anew, and leaves nothing", () => {
  const writings = new Writings();
  writings.receive([words("half"), piece({ type: "attempt_failed", cause: "cut" }), words("whole", 2)]);
  writings.hear(event("TurnModelCallFinished", {}));
  expect([writings.text("t"), writings.interrupted]).toEqual(["whole", []]);
});

test("text that was missed while offline is marked as missing", () => {
  const writings = new Writings();
  writings.receive([words("begun")]);
  writings.miss();
  writings.receive([words("the end"), words(".")]);
  expect(writings.text("t")).toBe("begun\n\n[…]\n\nthe end.");
  writings.keep(() => true);
  expect(writings.text("t")).not.toBe("");
  writings.keep(() => false);
  expect([writings.text("t"), writings.interrupted]).toEqual(["", []]);
});
