// Asks for the password before a decision: a stored token or session alone must not decide.
import { Suspense, useEffect, useState } from "react";
import { Boundary } from "../../ui/Broken.tsx";
import type { Session } from "../../app/session/session.ts";
import { part } from "../../ui/parts.ts";

const Password = part(() => import("./Password.tsx"));

/** Place it inside the open dialog or panel, so that the prompt is above it. Renders nothing until the session asks. */
export function AskAgain({ session }: { session: Session }) {
  const [answer, setAnswer] = useState<(isProved: boolean) => void>();
  useEffect(() => {
    return session.proveBy(() => new Promise((resolve) => setAnswer(() => resolve)));
  }, [session]);
  if (!answer) return null;
  const end = (isProved: boolean) => {
    answer(isProved);
    setAnswer(undefined);
  };
  return (
    <Suspense>
      <Boundary what="This dialog" close={() => end(false)}>
        <Password session={session} end={end} />
      </Boundary>
    </Suspense>
  );
}
