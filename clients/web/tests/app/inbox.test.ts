// The stream of notices, in pieces as they come.
import { expect, test, vi } from "vitest";
import { inboxOf, messagesIn } from "../../src/app/session/inbox.ts";
import type { InboxNotice } from "../../src/protocol/rest.ts";
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

test("notices that came while the stream was broken are fetched, once", async () => {
  vi.stubGlobal("navigator", {});
  let push = (_: string) => {};
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => {
      push = (text) => stream.enqueue(new TextEncoder().encode(text));
    },
  });
  const notice = (id: string, at: number) => ({
    id,
    at,
    about: { kind: "call_waits" },
    text: id,
    is_read: false,
    is_settled: false,
  });
  const known = notice("known", Date.now());
  const page = { unread: 2, notices: [notice("missed", Date.now()), known, notice("older", 1)] };
  const answers: Record<string, unknown> = {
    "/api/notices?limit=1": { unread: 0 },
    "/api/notices": page,
    "/api/notices/settings": { topics: { call_waits: { browser: true } } },
  };
  const asked: string[] = [];
  const rest = { get: async (path: string) => (asked.push(path), answers[path]), send: async () => ({ body }) };
  const inbox = inboxOf({ userId: `u${Math.random()}`, rest } as unknown as Session);
  const arrived: string[] = [];
  let next = () => {};
  inbox.onArrival(({ id }: InboxNotice) => (arrived.push(id), next()));
  const leave = inbox.subscribe(() => {});
  const arrival = () => new Promise<void>((resolve) => (next = resolve));
  const first = arrival();
  push(`data: ${JSON.stringify({ unread: 1, notice: known })}\n\n`);
  await first;
  const second = arrival();
  push('data: {"unread":2}\n\n');
  await second;
  push('data: {"unread":2}\n\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(arrived).toEqual(["known", "missed"]);
  expect(asked.filter((path) => path === "/api/notices").length).toBe(1);
  leave();
});
