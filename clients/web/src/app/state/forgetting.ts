// Redaction and erasure: forgets what this browser stores of a notebook. Each kind of storage is named here with the way it forgets.
import { forgetCopied } from "../cells/clipboard.ts";
import { forgetDrafts } from "../session/drafts.ts";
import { forgetRecent } from "../session/recent.ts";
import { forgetInlines } from "./inlineField.ts";

/** A notebook at its last redaction: what was stored at an earlier epoch may hold removed content. */
export interface Epoch {
  notebook: string;
  epoch: number;
}

/** Removes what was stored of the notebook before the epoch. Titles of recent notebooks are written anew when it opens. */
export function forgetOlder({ notebook, epoch }: Epoch): void {
  if (epoch === 0) return;
  forgetDrafts(notebook, epoch);
  forgetInlines(notebook, epoch);
  forgetCopied(notebook, epoch);
}

/** Removes all that was stored of a notebook, which is erased; the user is undefined for a guest. */
export function forgetErased(notebook: string, user: string | undefined): void {
  forgetOlder({ notebook, epoch: Infinity });
  forgetRecent(user, notebook);
}
