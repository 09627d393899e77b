// The comments panel: threads in notebook order, and the draft of a new one. Lazy: loads when it opens.
import { MessageSquarePlus, X } from "lucide-react";
import { Fragment, type ReactNode, useEffect, useRef } from "react";
import type { ThreadFilter, PendingComment } from "../../../app/state/comments.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { actions, keyLabel } from "../../../commands/table.ts";
import { keysOf } from "../../../commands/keys.ts";
import { CommentField } from "./CommentField.tsx";
import { comment } from "../../cell/marks.ts";
import { Place, Thread, UnsentComment, lineOf } from "./Thread.tsx";
import { useIsBeside, useMargin } from "./useMargin.ts";

const FILTERS: [ThreadFilter, string][] = [
  ["open", "Open"],
  ["resolved", "Resolved"],
];

export default function Comments({ store }: { store: NotebookStore }) {
  useTopics(store, "comments", "order", "status", "access", "current");
  const { comments } = store;
  const threads = comments.all;
  const begun = comments.unsent.filter(({ target }) => "cell" in target);
  // A hidden page does not count as read.
  useEffect(() => {
    const see = () => document.visibilityState === "visible" && comments.see();
    see();
    document.addEventListener("visibilitychange", see);
    return () => document.removeEventListener("visibilitychange", see);
  });
  const isEmpty = threads.length + begun.length === 0 && !comments.draft;
  const order = new Map(store.document.order.map((id, at) => [id, at]));
  const notes: Note[] = [
    ...(comments.draft ? [{ key: "draft", cell: comments.draft.cell, note: <Draft store={store} /> }] : []),
    ...begun.map((each) => ({ key: each.id, cell: cellOf(each), note: <Unposted store={store} unsent={each} /> })),
    ...threads.map(([id, thread]) => ({ key: id, cell: thread.cell_id, note: <Thread store={store} id={id} thread={thread} /> })),
  ].sort((a, b) => (order.get(a.cell) ?? 0) - (order.get(b.cell) ?? 0));
  const place = useRef<HTMLDivElement>(null);
  const isBeside = useIsBeside();
  useMargin(place, isBeside);
  return (
    <aside className={isBeside ? "panel comments beside" : "panel comments"} aria-label="Comments">
      <header className="row">
        <h2 className="grow">Comments</h2>
        <select
          aria-label="Filter comments"
          value={comments.shown}
          onChange={(event) => {
            comments.shown = event.target.value as ThreadFilter;
            store.touch("comments");
          }}
        >
          {FILTERS.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        {store.mayConverse && store.current !== undefined && (
          <button className="button bare icon" aria-label="Comment on cell" title="Comment on cell" onClick={() => comment(store)}>
            <MessageSquarePlus size={16} />
          </button>
        )}
        <button className="button bare icon" aria-label="Close" title="Close" onClick={() => store.show("comments")}>
          <X size={16} />
        </button>
      </header>
      <div ref={place} className="margin">
        {notes.map(({ key, note }) => (
          <Fragment key={key}>{note}</Fragment>
        ))}
      </div>
      {isEmpty && <Nothing store={store} />}
    </aside>
  );
}

interface Note {
  key: string;
  cell: string;
  note: ReactNode;
}

const cellOf = ({ target }: PendingComment) => ("cell" in target ? target.cell : "");

/** A thread that the server has not confirmed yet. */
function Unposted({ store, unsent }: { store: NotebookStore; unsent: PendingComment }) {
  const { target } = unsent;
  return (
    <article className="thread" aria-label="Unsent comment" data-about={cellOf(unsent)}>
      {"cell" in target && <Place store={store} cell={target.cell} quote={target.marked?.quote} range={undefined} />}
      <UnsentComment store={store} unsent={unsent} />
    </article>
  );
}

function Draft({ store }: { store: NotebookStore }) {
  const { comments } = store;
  const { draft } = comments;
  const place = useRef<HTMLElement>(null);
  // Also when the same comment is begun again: its field takes the focus and keeps its text, wherever the comment is now.
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
    store.focus.take(place.current?.querySelector("textarea"));
  }, [store, draft]);
  if (!draft) return null;
  return (
    <section
      ref={place}
      className="thread begun"
      aria-label="New comment"
      data-about={draft.cell}
      data-line={lineOf(store, draft.cell, draft.marked?.from)}
    >
      <Place
        store={store}
        cell={draft.cell}
        quote={draft.marked?.quote}
        range={draft.marked && [draft.marked.from, draft.marked.to]}
      />
      <CommentField
        store={store}
        label="Comment"
        button="Comment"
        isFirst
        send={(text, mentions) => void comments.post(draft, text, mentions)}
        leave={() => {
          comments.end();
          store.select(draft.cell);
        }}
      />
    </section>
  );
}

function Nothing({ store }: { store: NotebookStore }) {
  if (store.comments.shown === "resolved")
    return (
      <div className="quiet empty">
        <p>No resolved comments.</p>
      </div>
    );
  const action = actions.find(({ id }) => id === "comment");
  const press = action && Object.values(keysOf(action)).flat()[0];
  return (
    <div className="quiet empty">
      <p>{store.document.threads.size > 0 ? "No open comments." : "No comments yet."}</p>
      {store.mayConverse ? (
        <p className="small">
          Select text or a cell
          {press && (
            <>
              {" "}
              and press <kbd>{keyLabel(press)}</kbd>
            </>
          )}
          . Mention people with @.
        </p>
      ) : (
        <p className="small">You can read comments but not write them.</p>
      )}
    </div>
  );
}
