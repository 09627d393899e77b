// The inbox: notices to the person, newest first, with what happened while the page was closed. Lazy: loads when it opens.
import { CheckCheck, Settings2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import { inboxOf, useUnread } from "../../app/session/inbox.ts";
import type { Session } from "../../app/session/session.ts";
import { ago } from "../../app/words/words.ts";
import type { InboxNotice, NoticePage } from "../../protocol/rest.ts";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { NoticeChoices } from "./NoticeChoices.tsx";

interface Props {
  session: Session;
  close: () => void;
}

export default function Inbox({ session, close }: Props) {
  const [isChoosing, setIsChoosing] = useState(false);
  return (
    <TitledDialog
      kind="inbox"
      title="Notices"
      tools={
        <button className="button bare" aria-pressed={isChoosing} onClick={() => setIsChoosing(!isChoosing)}>
          <Settings2 size={15} aria-hidden /> Choose
        </button>
      }
      close={close}
    >
      {isChoosing ? <NoticeChoices session={session} /> : <List session={session} close={close} />}
    </TitledDialog>
  );
}

function List({ session, close }: Props) {
  const { notices, next, error, more, mark, markAll } = useNotices(session);
  const unread = useUnread(session);
  if (notices === undefined && error === undefined) return <p className="quiet">Loading…</p>;
  return (
    <>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {notices?.length === 0 && (
        <p className="quiet">No notices. Approvals that wait for you, mentions and long runs will be listed here.</p>
      )}
      {unread > 0 && (
        <button className="button all-read" onClick={() => void markAll()}>
          <CheckCheck size={15} aria-hidden /> Mark all as read
        </button>
      )}
      <ul className="plain notices-list">
        {notices?.map((notice) => (
          <Line key={notice.id} notice={notice} mark={mark} close={close} />
        ))}
      </ul>
      {next && (
        <button className="button" onClick={() => void more()}>
          Older
        </button>
      )}
    </>
  );
}

function Line({ notice, mark, close }: { notice: InboxNotice; mark: Mark; close: () => void }) {
  const { id, at, text, link, is_read, is_settled } = notice;
  const open = () => {
    if (!is_read) void mark(id, true);
    close();
  };
  const state = is_settled ? "Settled" : is_read ? "Read" : "Unread";
  return (
    <li className={is_read ? "row notice" : "row notice unread"}>
      <span className="grow">
        {link ? (
          <a href={link.slice(link.indexOf("#"))} onClick={open}>
            {text}
          </a>
        ) : (
          text
        )}
        <span className="quiet small when">
          {ago(at)}
          {is_settled && " · settled"}
          <span className="hidden"> {state}</span>
        </span>
      </span>
      <button className="button bare small" onClick={() => void mark(id, !is_read)}>
        {is_read ? "Mark as unread" : "Mark as read"}
      </button>
    </li>
  );
}

/** Notices with others, which may be newer states of the same, newest first. */
function merged(known: readonly InboxNotice[], others: readonly InboxNotice[]): InboxNotice[] {
  const all = new Map([...known, ...others].map((notice) => [notice.id, notice]));
  return [...all.values()].sort((one, other) => other.at - one.at);
}

type Mark = (id: string, isRead: boolean) => Promise<void>;

function useNotices(session: Session) {
  const { rest } = session;
  const [notices, setNotices] = useState<InboxNotice[]>();
  const [next, setNext] = useState<string>();
  const [error, setError] = useState<string>();
  const attempt = useCallback(async (action: () => Promise<void>) => {
    setError(undefined);
    await action().catch((failure: unknown) => setError((failure as Error).message));
  }, []);
  const load = useCallback(
    (before?: string) =>
      attempt(async () => {
        const page = await rest.get<NoticePage>(`/api/notices${before ? `?before=${before}` : ""}`);
        setNotices((known) => merged(known ?? [], page.notices));
        setNext(page.next ?? undefined);
      }),
    [rest, attempt],
  );
  useEffect(() => {
    void load();
    return inboxOf(session).onArrival((notice) => setNotices((known) => merged(known ?? [], [notice])));
  }, [session, load]);
  const mark: Mark = (id, isRead) =>
    attempt(async () => {
      await rest.json("POST", "/api/notices/read", { ids: [id], read: isRead });
      setNotices((known) => known?.map((notice) => (notice.id === id ? { ...notice, is_read: isRead } : notice)));
    });
  const markAll = () =>
    attempt(async () => {
      const newest = notices?.[0]?.at ?? serverNow();
      await rest.json("POST", "/api/notices/read", { until: newest });
      setNotices((known) => known?.map((notice) => ({ ...notice, is_read: true })));
    });
  return { notices, next, error, more: () => load(next), mark, markAll };
}
