// Changes of accounts, tokens, workspaces and links, newest first, by pages.
import { useCallback, useState } from "react";
import { serverNow } from "../../app/session/clock.ts";
import { isNotProved } from "../../app/session/session.ts";
import type { AuditEntry } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import type { SectionOf } from "./Administration.tsx";
import { accountsOf, actorWords, auditWords } from "./auditWords.ts";
import { useFreshNames } from "./freshNames.ts";
import { Section, useLoaded } from "./loading.tsx";
import type { NameOf } from "./people.ts";
import { timeWords } from "./words.ts";

const PAGE_ENTRIES = 50;

interface Pages {
  entries: AuditEntry[];
  hasMore: boolean;
}

async function pageBefore(rest: Rest, before?: number): Promise<Pages> {
  const query = new URLSearchParams({ limit: String(PAGE_ENTRIES), ...(before !== undefined && { before: String(before) }) });
  const entries = await rest.get<AuditEntry[]>(`/api/audit?${query}`);
  return { entries, hasMore: entries.length === PAGE_ENTRIES };
}

export function Audit({ session, people, nameOf }: SectionOf) {
  const load = useCallback((rest: Rest) => pageBefore(rest), []);
  const loaded = useLoaded(session, load);
  const { entries = [], hasMore = false } = loaded.value ?? {};
  useFreshNames(people, entries.flatMap(accountsOf));
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<string>();
  const more = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      const next = await pageBefore(await session.deciding(), entries.at(-1)?.number);
      loaded.change((before) => ({ entries: [...before.entries, ...next.entries], hasMore: next.hasMore }));
    } catch (failure) {
      if (!isNotProved(failure)) setError((failure as Error).message);
    }
    setIsBusy(false);
  };
  return (
    <Section
      title="Audit"
      about="Changes of accounts, tokens, workspaces, links and caps. Changes in a notebook are in its history."
      loaded={loaded}
      empty={loaded.value && entries.length === 0 ? "Nothing was changed yet." : undefined}
    >
      <table className="accounts-table audit">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" className="wide">
              By
            </th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.number} entry={entry} nameOf={nameOf} />
          ))}
        </tbody>
      </table>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {hasMore && (
        <button className="button more" disabled={isBusy} onClick={() => void more()}>
          {isBusy ? "Loading…" : "Older"}
        </button>
      )}
    </Section>
  );
}

function Row({ entry, nameOf }: { entry: AuditEntry; nameOf: NameOf }) {
  const author = actorWords(entry.actor, nameOf);
  return (
    <tr>
      <td className="quiet time">
        <time dateTime={new Date(entry.at).toISOString()}>{timeWords(entry.at, serverNow())}</time>
      </td>
      <td className="wide" dir="auto">
        {author}
      </td>
      <td title={`${entry.action} ${entry.subject}`}>
        <span className="words">
          <span dir="auto">{auditWords(entry, nameOf)}</span>
          <span className="quiet small narrow">{author}</span>
        </span>
      </td>
    </tr>
  );
}
