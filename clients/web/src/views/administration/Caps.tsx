// Caps on spending: their usage, new caps and removal.
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { usedPart } from "../../app/words/spending.ts";
import type { CapStatus, CapsAnswer } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import type { SectionOf } from "./Administration.tsx";
import { PERIODS, amountWords, capName, fixedWords, spenderWords } from "./capWords.ts";
import { Section, useLoaded } from "./loading.tsx";
import { NewCap } from "./NewCap.tsx";
import { Question } from "./Question.tsx";
import { workspaceNames } from "./workspaces.ts";

interface Overview {
  caps: CapStatus[];
  workspaces: Map<string, string>;
}

async function loadCaps(rest: Rest): Promise<Overview> {
  const [{ caps }, workspaces] = await Promise.all([rest.get<CapsAnswer>("/api/caps?all=true"), workspaceNames(rest)]);
  return { caps, workspaces };
}

export function Caps({ session, people, nameOf }: SectionOf) {
  const loaded = useLoaded(session, loadCaps);
  const { caps = [], workspaces = new Map<string, string>() } = loaded.value ?? {};
  const [isAdding, setIsAdding] = useState(false);
  const [asked, setAsked] = useState<CapStatus>();
  const nameIn = (cap: CapStatus) => spenderWords(cap, nameOf, workspaces);
  return (
    <>
      <Section
        title="Caps"
        about="Assistants stop when a cap is reached."
        loaded={loaded}
        empty={loaded.value && caps.length === 0 ? "No caps. Assistants can spend without a limit." : undefined}
        tools={
          <button className="button primary" disabled={!loaded.value} onClick={() => setIsAdding(true)} aria-haspopup="dialog">
            <Plus size={15} aria-hidden /> Set cap
          </button>
        }
      >
        <table className="accounts-table">
          <thead>
            <tr>
              <th scope="col">For</th>
              <th scope="col">Cap</th>
              <th scope="col">Used</th>
              <th scope="col" className="tool">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {caps.map((cap) => (
              <Row
                key={`${JSON.stringify(capName(cap))} ${cap.by_owner} ${cap.is_fixed}`}
                cap={cap}
                name={nameIn(cap)}
                remove={() => setAsked(cap)}
              />
            ))}
          </tbody>
        </table>
      </Section>
      {isAdding && (
        <NewCap
          session={session}
          people={people.value ?? []}
          workspaces={workspaces}
          saved={() => void loaded.reload()}
          close={() => setIsAdding(false)}
        />
      )}
      {asked && (
        <Question
          session={session}
          title={`Remove the cap for ${nameIn(asked)}?`}
          button="Remove cap"
          isDestructive
          run={async (rest) => {
            await rest.json("DELETE", "/api/caps", capName(asked));
            await loaded.reload();
          }}
          close={() => setAsked(undefined)}
        >
          {amountWords(asked.amount, asked.unit)} {PERIODS[asked.period]}. Assistants can spend more immediately.
        </Question>
      )}
    </>
  );
}

function Row({ cap, name, remove }: { cap: CapStatus; name: string; remove: () => void }) {
  const { amount, unit, period, used, is_reached } = cap;
  const fixed = fixedWords(cap);
  const words = `${amountWords(amount, unit)} ${PERIODS[period]}`;
  return (
    <tr>
      <th scope="row">
        <span className="words">
          <span dir="auto">{name}</span>
          {fixed && <span className="quiet small">{fixed}</span>}
        </span>
      </th>
      <td>{words}</td>
      <td>
        {used == null ? (
          <span className="quiet">–</span>
        ) : (
          <span className={is_reached ? "part nearly" : "part"}>
            <span>
              {amountWords(used, unit)}
              {is_reached && " · reached"}
            </span>
            <progress value={usedPart(cap)} max={1} aria-label={`${name}: used of ${words}`} />
          </span>
        )}
      </td>
      <td className="tool">
        {!fixed && (
          <IconButton label={`Remove the cap for ${name}: ${words}`} title="Remove cap" onClick={remove}>
            <Trash2 size={15} />
          </IconButton>
        )}
      </td>
    </tr>
  );
}
