// A cell's comment badge with its count of open threads, and a live region for new comments.
import { MessageSquare } from "lucide-react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";

export function CommentMark({ store, id }: { store: NotebookStore; id: string }) {
  const all = store.comments.of(id).length;
  if (all === 0) return null;
  const open = store.comments.open(id);
  const words = open === 1 ? "1 open comment thread" : open > 0 ? `${open} open comment threads` : "Resolved comments";
  return (
    <button
      className={open > 0 ? "mark threads" : "mark threads resolved"}
      aria-label={words}
      title={words}
      onClick={() => store.comments.show(id)}
    >
      <MessageSquare size={13} aria-hidden />
      {open > 0 && <span aria-hidden>{open}</span>}
    </button>
  );
}

export function CommentNews({ store }: { store: NotebookStore }) {
  useTopics(store, "comments");
  return (
    <p className="hidden" role="status">
      {store.comments.news}
    </p>
  );
}
