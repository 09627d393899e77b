// Tokens and cost of assistants in one month, by person or another column, and the caps.
import { Download } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { saveAs } from "../../app/files/download.ts";
import { serverNow } from "../../app/session/clock.ts";
import { isNotProved } from "../../app/session/session.ts";
import { costWords, tokenWords } from "../../app/words/spending.ts";
import type { ModelUsage, ModelUsageAnswer } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import type { SectionOf } from "./Administration.tsx";
import { Caps } from "./Caps.tsx";
import { Section, useLoaded } from "./loading.tsx";
import { monthsBefore } from "./months.ts";

const COLUMNS = { person: "Person", workspace: "Workspace", model: "Model", day: "Day" } as const;
/** Months that can be chosen. */
const MONTHS = 12;

type Column = keyof typeof COLUMNS;

export function Spending(section: SectionOf) {
  const { session } = section;
  const months = useMemo(() => monthsBefore(serverNow(), MONTHS), []);
  const [month, setMonth] = useState(0);
  const [by, setBy] = useState<Column>("person");
  const [failure, setFailure] = useState<string>();
  const { since, until } = months[month] ?? { since: "", until: "" };
  const query = new URLSearchParams({ by, all: "true", since, until }).toString();
  const load = useCallback(
    async (rest: Rest) => ({ by, answer: await rest.get<ModelUsageAnswer>(`/api/spending?${query}`) }),
    [by, query],
  );
  const loaded = useLoaded(session, load);
  const rows = loaded.value?.answer.rows ?? [];
  const save = async () => {
    setFailure(undefined);
    try {
      const answer = await (await session.deciding()).send(`/api/spending.csv?${query}`);
      await saveAs(answer, `Spending by ${by}, ${since} to ${until}.csv`);
    } catch (error) {
      if (!isNotProved(error)) setFailure((error as Error).message);
    }
  };
  return (
    <div className="stack parts">
      <Section
        title="Spending"
        about="Tokens and cost of assistants. Days are in UTC."
        loaded={loaded}
        tools={
          <button className="button" disabled={rows.length === 0} onClick={() => void save()}>
            <Download size={15} aria-hidden /> CSV
          </button>
        }
      >
        <div className="row search-row">
          <select className="select" aria-label="Month" value={month} onChange={({ target }) => setMonth(Number(target.value))}>
            {months.map(({ since, words }, index) => (
              <option key={since} value={index}>
                {words}
              </option>
            ))}
          </select>
          <select className="select" aria-label="Sum by" value={by} onChange={({ target }) => setBy(target.value as Column)}>
            {Object.entries(COLUMNS).map(([value, words]) => (
              <option key={value} value={value}>
                By {words.toLowerCase()}
              </option>
            ))}
          </select>
        </div>
        {failure && (
          <p className="error" role="alert">
            {failure}
          </p>
        )}
        {loaded.value && rows.length === 0 && <p className="quiet nothing">No assistant was used in this month.</p>}
        {loaded.value && rows.length > 0 && <Table rows={rows} by={loaded.value.by} />}
      </Section>
      <Caps {...section} />
    </div>
  );
}

function Table({ rows, by }: { rows: ModelUsage[]; by: Column }) {
  const sorted = by === "day" ? [...rows].reverse() : rows.toSorted((one, other) => tokensOf(other) - tokensOf(one));
  const isEstimated = rows.some(({ estimated_calls }) => estimated_calls > 0);
  return (
    <>
      <table className="accounts-table">
        <thead>
          <tr>
            <th scope="col">{COLUMNS[by]}</th>
            <th scope="col" className="number wide">
              Calls
            </th>
            <th scope="col" className="number wide">
              Tokens in
            </th>
            <th scope="col" className="number wide">
              Tokens out
            </th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={row.value}>
              <th scope="row">
                <span className="words">
                  <span dir="auto">{titleOf(row, by)}</span>
                  <span className="quiet small narrow">
                    {tokenWords(row.input_tokens)} tokens in, {tokenWords(row.output_tokens)} out
                  </span>
                </span>
              </th>
              <td className="number wide">{row.calls.toLocaleString()}</td>
              <td
                className="number wide"
                title={`${row.input_tokens.toLocaleString()}, ${row.cached_tokens.toLocaleString()} of them cached`}
              >
                {tokenWords(row.input_tokens)}
              </td>
              <td className="number wide" title={row.output_tokens.toLocaleString()}>
                {tokenWords(row.output_tokens)}
              </td>
              <td className="number cost">{costWords(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isEstimated && <p className="quiet small">Some tokens are estimates.</p>}
    </>
  );
}

function tokensOf({ input_tokens, output_tokens }: ModelUsage): number {
  return input_tokens + output_tokens;
}

function titleOf({ value, name }: ModelUsage, by: Column): string {
  if (name != null) return name;
  if (by === "workspace") return value === "" ? "No workspace" : "Deleted workspace";
  return by === "person" ? "Unknown account" : value;
}
