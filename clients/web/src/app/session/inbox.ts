// The number of unread notices, live. One tab of this browser follows the server's stream and tells the other tabs: a browser opens few
// connections to one server.
import { useSyncExternalStore } from "react";
import type { InboxNotice, NoticeNews, NoticePage, NoticeSettings } from "../../protocol/rest.ts";
import { notifyOf } from "./attention.ts";
import { serverNow } from "./clock.ts";
import type { Session } from "./session.ts";

/** Pauses before the stream is followed again after it broke off. */
const PAUSES_MS = [1_000, 5_000, 20_000, 60_000];
/** Time before the last news from which missed notices are fetched: theirs is that of the fact, and a node may write them later. */
const OVERLAP_MS = 60_000;

/** Messages of a stream of server-sent events, as far as `text` has them, and the rest. */
export function messagesIn(text: string): { messages: string[]; rest: string } {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const data = (block: string) =>
    block
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
  return { messages: blocks.map(data).filter((message) => message !== ""), rest };
}

export class Inbox {
  unread = 0;
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  readonly #arrivals = new Set<(notice: InboxNotice) => void>();
  #end: AbortController | undefined;
  /** True once the stream or another tab has told the number: an answer to the question for it may be older. */
  #isTold = false;
  /** Ids of notices that the stream has brought. */
  readonly #told = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Calls `changed` for each change while somebody listens. */
  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    this.#end ??= this.#start();
    return () => {
      this.#listeners.delete(changed);
      if (this.#listeners.size > 0) return;
      this.#end?.abort();
      this.#end = undefined;
    };
  };

  /** Calls `arrived` for each new notice. */
  onArrival(arrived: (notice: InboxNotice) => void): () => void {
    this.#arrivals.add(arrived);
    return () => this.#arrivals.delete(arrived);
  }

  #start(): AbortController {
    this.#isTold = false;
    const end = new AbortController();
    const name = `notarium-notices-${this.#session.userId}`;
    const others = "BroadcastChannel" in globalThis ? new BroadcastChannel(name) : undefined;
    if (others) others.onmessage = ({ data }) => this.#take(data as NoticeNews);
    end.signal.addEventListener("abort", () => others?.close());
    const lead = () => this.#follow(end.signal, others);
    // Without locks (a page without TLS on another machine) each tab follows by itself.
    const leading = navigator.locks ? navigator.locks.request(name, { signal: end.signal }, lead) : lead();
    leading.catch(() => undefined);
    void this.#count();
    return end;
  }

  async #count(): Promise<void> {
    const page = await this.#session.rest.get<{ unread: number }>("/api/notices?limit=1").catch(() => undefined);
    if (page && !this.#isTold) this.#show({ unread: page.unread });
  }

  #take(news: NoticeNews): void {
    this.#isTold = true;
    if (news.notice) this.#told.add(news.notice.id);
    this.#show(news);
  }

  /** Fetches notices that came while the stream was broken, since `from`: then it tells their number only. */
  async #fetchMissed(from: number, tell: (news: NoticeNews) => void): Promise<void> {
    const { rest } = this.#session;
    const { notices, unread } = await rest.get<NoticePage>("/api/notices");
    const missed = notices.filter(({ id, at, is_read }) => at >= from && !is_read && !this.#told.has(id));
    if (missed.length === 0) return;
    const { topics } = await rest.get<NoticeSettings>("/api/notices/settings");
    for (const notice of missed.reverse()) tell({ unread, notice, notify: topics[notice.about.kind]?.browser ?? false });
  }

  #show(news: NoticeNews): void {
    this.unread = news.unread;
    if (news.notice) for (const arrived of this.#arrivals) arrived(news.notice);
    for (const changed of this.#listeners) changed();
  }

  /** Follows the stream until the tab leaves it to another one. */
  async #follow(signal: AbortSignal, others: BroadcastChannel | undefined): Promise<void> {
    const tell = (news: NoticeNews) => {
      this.#take(news);
      others?.postMessage(news);
      if (news.notice && news.notify) notifyOf(news.notice);
    };
    let heardAt = serverNow();
    for (let failures = 0; !signal.aborted; failures++) {
      await this.#read(signal, (news) => {
        failures = 0;
        const hasGrown = this.#isTold && news.unread > this.unread;
        tell(news);
        // News between nodes may be lost too.
        if (hasGrown && !news.notice) void this.#fetchMissed(heardAt - OVERLAP_MS, tell).catch(() => undefined);
        heardAt = serverNow();
      }).catch(() => undefined);
      if (signal.aborted) return;
      await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0, signal);
    }
  }

  async #read(signal: AbortSignal, take: (news: NoticeNews) => void): Promise<void> {
    const answer = await this.#session.rest.send("/api/notices/stream", { signal });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      const { messages, rest } = messagesIn(text + next.value);
      text = rest;
      for (const message of messages) take(JSON.parse(message) as NoticeNews);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()));
  });
}

const inboxes = new WeakMap<Session, Inbox>();

export function inboxOf(session: Session): Inbox {
  const known = inboxes.get(session);
  if (known) return known;
  const made = new Inbox(session);
  inboxes.set(session, made);
  return made;
}

export function useUnread(session: Session): number {
  const inbox = inboxOf(session);
  return useSyncExternalStore(inbox.subscribe, () => inbox.unread);
}
