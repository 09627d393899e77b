// The stream of notices, in pieces as they come.
import { expect, test, vi } from "vitest";
import { inboxOf, messagesIn } from "../../src/app/session/inbox.ts";
import type { Session } from "../../src/app/session/session.ts";

test("messages are taken when they are whole, and comments are none", () => {
  const first = messagesIn('event: notices\ndata: {"unread":1}\n\n: keep-alive\n\nevent: notices\ndata: {"un');
  expect(first.messages).toEqual(['{"unread":1}']);
  const second = messagesIn(`${first.rest}read":2}\n\n`);
  expect(second).toEqual({ messages: ['{"unread":2}'], rest: "" });
});

test("the stream's number stays when an older answer comes after it", async () => {
  vi.stubGlobal("navigator", {});
  let answer = (_: { unread: number }) => {};
  let push = (_: string) => {};
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      push = (text) => stream.enqueue(new TextEncoder().encode(text));
    },
  });
  const rest = {
    get: () => new Promise<{ unread: number }>((resolve) => (answer = resolve)),
    send: async () => ({ body }),
  };
  const inbox = inboxOf({ userId: `u${Math.random()}`, rest } as unknown as Session);
  const numbers: number[] = [];
  let next = () => {};
  const leave = inbox.subscribe(() => (numbers.push(inbox.unread), next()));
  const told = new Promise<void>((resolve) => (next = resolve));
  push('data: {"unread":2}\n\n');
  await told;
  answer({ unread: 0 });
  await new Promise((resolve) => setImmediate(resolve));
  expect([numbers, inbox.unread]).toEqual([[2], 2]);
  leave();
});
