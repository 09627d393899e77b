// The bell in the bar: the number of unread notices, and the inbox. Guests have none.
import { Bell as BellIcon } from "lucide-react";
import { Suspense, useState } from "react";
import { useUnread } from "../../app/session/inbox.ts";
import type { Session } from "../../app/session/session.ts";
import { Boundary } from "../../ui/Broken.tsx";
import { part } from "../../ui/parts.ts";

const Inbox = part(() => import("./Inbox.tsx"));
/** Above it the number is not exact. */
const MOST_SHOWN = 99;

export function Bell({ session }: { session: Session }) {
  return session.userId === undefined ? null : <OwnBell session={session} />;
}

function OwnBell({ session }: { session: Session }) {
  const unread = useUnread(session);
  const [isOpen, setIsOpen] = useState(false);
  const words = unread === 0 ? "Notices" : `Notices: ${unread} unread`;
  return (
    <>
      <button
        className="button bare icon bell"
        onClick={() => setIsOpen(true)}
        aria-label={words}
        title={words}
        aria-haspopup="dialog"
      >
        <BellIcon size={16} />
        {unread > 0 && (
          <span className="count" aria-hidden>
            {unread > MOST_SHOWN ? `${MOST_SHOWN}+` : unread}
          </span>
        )}
      </button>
      {isOpen && (
        <Suspense>
          <Boundary what="Your notices" close={() => setIsOpen(false)}>
            <Inbox session={session} close={() => setIsOpen(false)} />
          </Boundary>
        </Suspense>
      )}
    </>
  );
}
