// What an assistant answered to a prompt cell.
import { causeWords } from "../app/words.ts";
import { renderMarkdown } from "../outputs/safe.ts";
import type { Cell as CellValue } from "../protocol/messages.ts";

export function ReplyView({ reply, isStale }: { reply: NonNullable<CellValue["reply"]>; isStale: boolean }) {
  return (
    <div className="reply" aria-live="polite" aria-busy={reply.status === "running"}>
      {reply.text && <div className="rendered" dangerouslySetInnerHTML={{ __html: renderMarkdown(reply.text, undefined) }} />}
      <p className="quiet small">
        {reply.status === "running" && "The assistant is writing …"}
        {reply.status === "stopped" && "Stopped"}
        {reply.status === "failed" &&
          `The assistant could not answer${reply.cause ? `: ${causeWords(reply.cause, reply.detail)}` : ""}`}
        {isStale && " The prompt has changed since it was answered."}
        {reply.is_cut && " There is more of it in the conversation."}
      </p>
    </div>
  );
}
