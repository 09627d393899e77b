// Texts of refusals: what to do on this page, without ids and command lines.
import { expect, test } from "vitest";
import { pageWords, sentenceOf } from "../../src/transport/refusals.ts";

test("a code that the page knows has the page's words", () => {
  expect(pageWords("wrong_password", "login or password is wrong: try again")).toBe("Wrong login or password.");
  expect(pageWords("nothing_to_undo", "nothing of turn 01J is left to undo")).toBe("Nothing left to undo.");
  expect(pageWords("nothing_to_undo", "you have undone nothing", { kind: "nothing_to_redo" })).toBe("Nothing left to redo.");
  const role = "your role here is viewer, which does not allow you to edit: ask an owner";
  expect(pageWords("forbidden", role, { kind: "missing_right", role: "viewer" })).toBe(
    "You don’t have permission to do this here. Ask the notebook’s owner.",
  );
  const scope = "this token lacks the scope manage: use one that has it";
  expect(pageWords("forbidden", scope, { kind: "missing_scope", scope: "manage" })).toContain("limited token");
  expect(pageWords("forbidden", "sign in afresh", { kind: "fresh_sign_in", scope: "manage" })).toContain("password");
  expect(pageWords("forbidden", "its author edits a comment")).toBe("Its author edits a comment.");
});

test("a wait keeps its time", () => {
  expect(pageWords("too_many_attempts", "too many", { kind: "retry_after", seconds: 20 })).toBe(
    "Too many attempts. Try again in 20 seconds.",
  );
  expect(pageWords("rate_limited", "wait", { kind: "retry_after", seconds: 1 })).toBe("Too many requests. Try again in 1 second.");
  expect(pageWords("rate_limited", "wait", { kind: "retry_after", seconds: 150 })).toContain("in 3 minutes");
  expect(pageWords("rate_limited", "slow down")).toBe("Too many requests. Try again in a moment.");
});

test("other sentences lose ids and what one would type at a terminal", () => {
  expect(sentenceOf("a notebook has at most 8 kernels: shut one down first")).toBe(
    "A notebook has at most 8 kernels: shut one down first.",
  );
  expect(sentenceOf("there is no user of the id 01JABCDEFGHJKMNPQRSTVWXYZ0: `notarium user ls` lists them")).toBe(
    "There is no user of the id.",
  );
  expect(sentenceOf("send it to POST /api/session")).toBe("This didn’t work. Try again.");
  expect(pageWords("toString", "no such thing")).toBe("No such thing.");
});
