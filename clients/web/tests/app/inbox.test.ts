// The stream of notices, in pieces as they come.
import { expect, test } from "vitest";
import { messagesIn } from "../../src/app/session/inbox.ts";

test("messages are taken when they are whole, and comments are none", () => {
  const first = messagesIn('event: notices\ndata: {"unread":1}\n\n: keep-alive\n\nevent: notices\ndata: {"un');
  expect(first.messages).toEqual(['{"unread":1}']);
  const second = messagesIn(`${first.rest}read":2}\n\n`);
  expect(second).toEqual({ messages: ['{"unread":2}'], rest: "" });
});
