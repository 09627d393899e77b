// Effects that the system refused to a run: one line below the outputs, and a way to run the cell again in the person's own name.
import { ShieldAlert } from "lucide-react";
import { Fragment, Suspense, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { isHeld, refusedParts } from "../../app/words/effectWords.ts";
import { isSurprised } from "../../app/words/surprises.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution } from "../../protocol/messages.ts";
import { Boundary } from "../../ui/Broken.tsx";
import { part } from "../../ui/parts.ts";

const RunAllowed = part(() => import("./RunAllowed.tsx"));

interface Props {
  store: NotebookStore;
  id: string;
  run: Execution;
}

export function Refused({ store, id, run }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  const refused = run.refused ?? [];
  if (refused.length === 0 || isSurprised(run)) return null;
  const close = () => setIsAsking(false);
  return (
    <>
      <p className="state small quiet refused">
        <ShieldAlert size={13} aria-hidden />
        <span>
          Wanted to{" "}
          {refusedParts(refused).map(({ verb, target, more }, index) => (
            <Fragment key={index}>
              {index > 0 && " · "}
              {verb} <code>{target}</code>
              {more}
            </Fragment>
          ))}
          : not allowed in this run.{" "}
          {store.mayRun && isHeld(run.effects) && isFinished(run.status) && (
            <button className="link" aria-haspopup="dialog" onClick={() => setIsAsking(true)}>
              Run again with this allowed
            </button>
          )}
        </span>
      </p>
      {isAsking && (
        <Suspense>
          <Boundary what="This dialog" close={close}>
            <RunAllowed store={store} id={id} run={run} close={close} />
          </Boundary>
        </Suspense>
      )}
    </>
  );
}
