// A comment thread: its place, comments and actions.
import { Check, RotateCcw } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { emphasised, type PendingComment } from "../../../app/state/comments.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { ago, date, hueOf, initials } from "../../../app/words/words.ts";
import type { Comment, Thread as ThreadValue } from "../../../protocol/messages.ts";
import { useName } from "../../../ui/Author.tsx";
import { Rendered } from "../../outputs/Rendered.tsx";
import { CommentField, useNames } from "./CommentField.tsx";

interface Props {
  store: NotebookStore;
  id: string;
  thread: ThreadValue;
}

export function Thread({ store, id, thread }: Props) {
  const { comments } = store;
  const { cell_id, range, quote, resolved } = thread;
  const place = useRef<HTMLElement>(null);
  const isCurrent = comments.thread === id;
  useEffect(() => {
    if (isCurrent) place.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent, thread.comments.length]);
  const unsent = comments.unsent.filter(({ target }) => "thread" in target && target.thread === id);
  const number = store.document.order.indexOf(cell_id) + 1;
  return (
    <article
      ref={place}
      className="thread"
      aria-label={`Thread on cell ${number}`}
      aria-current={isCurrent || undefined}
      data-about={cell_id}
      data-line={lineOf(store, cell_id, range?.[0])}
    >
      <Place store={store} cell={cell_id} quote={quote ?? undefined} range={range ?? undefined} />
      <ol>
        {thread.comments.map((comment) => (
          <Said key={comment.comment_id} store={store} thread={id} comment={comment} />
        ))}
        {unsent.map((each) => (
          <li key={each.id}>
            <UnsentComment store={store} unsent={each} />
          </li>
        ))}
      </ol>
      {resolved && <Resolution store={store} resolved={resolved} />}
      {store.mayConverse && <Answer key={id} store={store} id={id} isResolved={Boolean(resolved)} isCurrent={isCurrent} />}
    </article>
  );
}

/** Returns the 0-based line of an offset in a cell's source; undefined for Markdown. */
export function lineOf(store: NotebookStore, cell: string, at: number | undefined): number | undefined {
  if (at === undefined || store.document.cells.get(cell)?.cell_type === "markdown") return undefined;
  const source = store.texts.shown(cell) ?? store.document.cells.get(cell)?.source ?? "";
  return source.slice(0, at).split("\n").length - 1;
}

interface PlaceProps {
  store: NotebookStore;
  cell: string;
  quote: string | undefined;
  range: readonly [number, number] | undefined;
}

/** Link to the thread's cell, or to its text range. */
export function Place({ store, cell, quote, range }: PlaceProps) {
  const number = store.document.order.indexOf(cell) + 1;
  const isGone = range !== undefined && range[0] === range[1];
  const go = () => {
    const isRead = store.document.cells.get(cell)?.cell_type === "markdown" && !store.isEditing;
    if (range && !isGone && !isRead) store.goTo(cell, store.texts.placed(cell, range));
    else store.select(cell);
  };
  return (
    <div className="place">
      <button className="link small" disabled={number === 0} onClick={go}>
        {number > 0 ? `Cell ${number}` : "Deleted cell"}
      </button>
      {quote && <blockquote className={isGone ? "small mono gone" : "small mono"}>{quote}</blockquote>}
      {isGone && <p className="quiet small">This text was deleted.</p>}
    </div>
  );
}

function Said({ store, thread, comment }: { store: NotebookStore; thread: string; comment: Comment }) {
  const [isEditing, setIsEditing] = useState(false);
  const name = useName(store, comment.author);
  // Shows the user's own name instead of “You”.
  const shown = name === "You" ? store.session.me.name : name;
  const { comment_id, text, posted_at, edited_at, mentions } = comment;
  const names = useNames(store, mentions ?? []);
  const { comments } = store;
  return (
    <li className="comment">
      <p className="row tight">
        <span className={`avatar small peer-hue-${hueOf(shown)}`} aria-hidden>
          {initials(shown)}
        </span>
        <strong className="grow">{name}</strong>
        <time className="quiet small" title={date(posted_at)}>
          {ago(posted_at)}
        </time>
        {edited_at && (
          <span className="quiet small" title={date(edited_at)}>
            edited
          </span>
        )}
      </p>
      {isEditing ? (
        <CommentField
          store={store}
          label="Comment"
          button="Save"
          isFirst
          text={text}
          mentions={names}
          send={(next, named) => {
            setIsEditing(false);
            void store.send({ EditComment: { thread_id: thread, comment_id, text: next, mentions: named } });
          }}
          leave={() => setIsEditing(false)}
        />
      ) : (
        <div className="rendered">
          <Rendered text={emphasised(text, [...names.values()])} />
        </div>
      )}
      {!isEditing && (
        <p className="row tight own">
          {store.mayConverse && comments.isMine(comment) && (
            <button className="link small" onClick={() => setIsEditing(true)}>
              Edit
            </button>
          )}
          {comments.mayDelete(comment) && <Delete store={store} thread={thread} comment={comment_id} />}
        </p>
      )}
    </li>
  );
}

/** Needs two clicks, since deleting a comment cannot be undone. */
function Delete({ store, thread, comment }: { store: NotebookStore; thread: string; comment: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const act = () => {
    if (!isAsking) return setIsAsking(true);
    void store.send({ DeleteComment: { thread_id: thread, comment_id: comment } });
  };
  return (
    <button className={isAsking ? "link small bad" : "link small"} onClick={act} onBlur={() => setIsAsking(false)}>
      {isAsking ? "Delete permanently" : "Delete"}
    </button>
  );
}

function Resolution({ store, resolved }: { store: NotebookStore; resolved: NonNullable<ThreadValue["resolved"]> }) {
  const name = useName(store, resolved.by);
  return (
    <p className="quiet small">
      <Check size={13} aria-hidden /> Resolved by {name === "You" ? "you" : name}{" "}
      <time title={date(resolved.at)}>{ago(resolved.at)}</time>
    </p>
  );
}

function Answer({
  store,
  id,
  isResolved,
  isCurrent,
}: {
  store: NotebookStore;
  id: string;
  isResolved: boolean;
  isCurrent: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent && store.comments.takeFocus(id)) place.current?.querySelector("textarea")?.focus();
  });
  const resolve = () => void store.send(isResolved ? { ReopenThread: { thread_id: id } } : { ResolveThread: { thread_id: id } });
  return (
    <div ref={place}>
      <CommentField
        store={store}
        label="Reply"
        button="Reply"
        send={(text, mentions) => void store.comments.post({ thread: id }, text, mentions)}
        second={
          <button type="button" className="button bare" onClick={resolve}>
            {isResolved ? <RotateCcw size={14} aria-hidden /> : <Check size={14} aria-hidden />} {isResolved ? "Reopen" : "Resolve"}
          </button>
        }
      />
    </div>
  );
}

/** A comment being sent, or rejected with a reason: retry or discard. */
export function UnsentComment({ store, unsent }: { store: NotebookStore; unsent: PendingComment }) {
  const { comments } = store;
  const again = () => {
    comments.drop(unsent);
    void comments.post(unsent.target, unsent.text, unsent.mentions);
  };
  return (
    <div className="comment unsent">
      <p className="plain" dir="auto">
        {unsent.text}
      </p>
      {unsent.error === undefined ? (
        <p className="quiet small" role="status">
          {store.isLive ? "Sending…" : "Will be sent when you’re back online"}
        </p>
      ) : (
        <p className="row error small" role="alert">
          <span className="grow">Not sent. {unsent.error}</span>
          <button className="link" onClick={again}>
            Try again
          </button>
          <button className="link" onClick={() => comments.drop(unsent)}>
            Discard
          </button>
        </p>
      )}
    </div>
  );
}
