// Events of comment threads. Changes of a cell affect only the ranges of its threads, which move with its text.
import type { ChangeSet, Comment, Thread } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { mapRange } from "../change.ts";
import { present, without } from "../values.ts";

export const commentEvents: Handlers = {
  ThreadStarted({ thread_id, cell_id, range, quote }, { document, touched }) {
    document.threads.set(thread_id, present({ cell_id, range, quote, comments: [] }));
    touched.part("comments");
  },
  ThreadMoved({ thread_id, cell_id, range }, folding) {
    change(folding, thread_id, (thread) => present({ ...thread, cell_id, range }));
  },
  ThreadResolved({ thread_id }, folding) {
    const { actor: by, recorded_at: at } = folding.event;
    change(folding, thread_id, (thread) => ({ ...thread, resolved: { by, at } }));
  },
  ThreadReopened({ thread_id }, folding) {
    change(folding, thread_id, (thread) => present({ ...thread, resolved: undefined }));
  },
  CommentPosted({ thread_id, comment_id, text, mentions }, folding) {
    const { actor: author, recorded_at: posted_at } = folding.event;
    const comment = without<Comment>({ comment_id, text, mentions, author, posted_at }, "mentions");
    change(folding, thread_id, (thread) => ({ ...thread, comments: [...thread.comments, comment] }));
  },
  CommentEdited({ thread_id, comment_id, text, mentions }, folding) {
    const edited_at = folding.event.recorded_at;
    const edit = (comment: Comment) => without<Comment>({ ...comment, text, mentions, edited_at }, "mentions");
    change(folding, thread_id, (thread) => {
      const comments = thread.comments.map((comment) => (comment.comment_id === comment_id ? edit(comment) : comment));
      return { ...thread, comments };
    });
  },
  CommentDeleted({ thread_id, comment_id }, folding) {
    change(folding, thread_id, (thread) => {
      return { ...thread, comments: thread.comments.filter((comment) => comment.comment_id !== comment_id) };
    });
    if (folding.document.threads.get(thread_id)?.comments.length === 0) folding.document.threads.delete(thread_id);
  },
};

function change({ document, touched }: Folding, id: string, next: (thread: Thread) => Thread): void {
  const thread = document.threads.get(id);
  if (!thread) return;
  document.threads.set(id, next(thread));
  touched.part("comments");
}

/** Moves the ranges of a cell's threads after a change of its source. */
export function follow(folding: Folding, cellId: string, edit: ChangeSet): void {
  for (const [id, { cell_id, range }] of folding.document.threads) {
    if (cell_id !== cellId || !range) continue;
    const moved = mapRange(range, edit);
    if (moved[0] !== range[0] || moved[1] !== range[1]) change(folding, id, (thread) => ({ ...thread, range: moved }));
  }
}
