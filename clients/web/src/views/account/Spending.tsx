// Section of the account dialog: tokens and cost of the person's assistants this month, and caps.
import { Download } from "lucide-react";
import { useEffect, useState } from "react";
import { saveAs } from "../../app/files/download.ts";
import { capWords, costWords, tokenWords, usedPart } from "../../app/words/spending.ts";
import type { CapStatus, CapsAnswer, ModelUsage, ModelUsageAnswer, Workspace } from "../../protocol/rest.ts";
import type { Part } from "./Account.tsx";

const COLUMNS = { day: "Day", model: "Model", notebook: "Notebook", workspace: "Workspace" } as const;
const FOR_MANY = { ...COLUMNS, person: "Person" } as const;

type Column = keyof typeof FOR_MANY;

/** Whose usage is shown: "" for one's own, "all", or the id of a workspace. */
type Whose = string;

export function Spending({ session, attempt }: Part) {
  const [by, setBy] = useState<Column>("day");
  const [whose, setWhose] = useState<Whose>("");
  const [answer, setAnswer] = useState<ModelUsageAnswer>();
  const [caps, setCaps] = useState<CapStatus[]>([]);
  const { rest, me } = session;
  const [workspaces, setWorkspaces] = useState<Workspace[]>([]);
  const owned = workspaces.filter(({ role }) => role === "owner");
  const query = queryOf(by, whose);
  useEffect(() => {
    void attempt(async () => setCaps((await rest.get<CapsAnswer>("/api/caps")).caps));
    void attempt(async () => setWorkspaces(await rest.get<Workspace[]>("/api/workspaces")));
  }, [rest, attempt]);
  useEffect(() => {
    let isShown = true;
    void attempt(async () => {
      const found = await rest.get<ModelUsageAnswer>(`/api/spending?${query}`);
      if (isShown) setAnswer(found);
    });
    return () => {
      isShown = false;
    };
  }, [rest, attempt, query]);
  const save = () => attempt(async () => saveAs(await rest.send(`/api/spending.csv?${query}`), `Assistant usage by ${by}.csv`));
  const choose = (value: Whose) => {
    setWhose(value);
    if (value === "" && by === "person") setBy("day");
  };
  return (
    <section className="stack tight" aria-label="Assistant usage">
      <h3>Assistant usage</h3>
      <Caps caps={caps} names={new Map(workspaces.map(({ id, name }) => [id, name]))} />
      <div className="row">
        <label className="row">
          <span className="quiet small">By</span>
          <select className="select" value={by} onChange={({ target }) => setBy(target.value as Column)}>
            {Object.entries(whose === "" ? COLUMNS : FOR_MANY).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {(owned.length > 0 || me.user?.is_admin === true) && (
          <label className="row">
            <span className="quiet small">Of</span>
            <select className="select" value={whose} onChange={({ target }) => choose(target.value)}>
              <option value="">You</option>
              {owned.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
              {me.user?.is_admin === true && <option value="all">Everyone</option>}
            </select>
          </label>
        )}
        <button className="button" disabled={!answer || answer.rows.length === 0} onClick={() => void save()}>
          <Download size={15} aria-hidden /> CSV
        </button>
      </div>
      {answer && <Rows answer={answer} by={by} />}
    </section>
  );
}

function queryOf(by: Column, whose: Whose): string {
  const of: Record<string, string> = whose === "" ? {} : whose === "all" ? { all: "true" } : { workspace: whose };
  return new URLSearchParams({ by, ...of }).toString();
}

function Caps({ caps, names }: { caps: CapStatus[]; names: Map<string, string> }) {
  if (caps.length === 0) return null;
  return (
    <ul className="plain stack tight" aria-label="Caps">
      {caps.map((cap) => {
        const words = capWords(cap, names.get(cap.workspace ?? ""));
        return (
          <li key={`${words} ${cap.by_owner} ${cap.is_fixed}`} className={cap.is_reached ? "row cap reached" : "row cap"}>
            <span className={cap.is_reached ? "grow bad" : "grow"}>
              {words}
              {cap.is_reached && ". Limit reached."}
            </span>
            <progress value={usedPart(cap)} max={1} aria-label={words} />
          </li>
        );
      })}
    </ul>
  );
}

function Rows({ answer: { rows, since }, by }: { answer: ModelUsageAnswer; by: Column }) {
  if (rows.length === 0) return <p className="quiet small">No assistant was used since {since}.</p>;
  const isEstimated = rows.some(({ estimated_calls: estimated }) => estimated > 0);
  return (
    <>
      <div className="spending-table" tabIndex={0} role="region" aria-label="Usage this month">
        <table className="small">
          <thead>
            <tr>
              <th scope="col">{FOR_MANY[by]}</th>
              <th scope="col">Calls</th>
              <th scope="col">Tokens in</th>
              <th scope="col">Tokens out</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.value} row={row} by={by} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet small">
        Since {since}, days in UTC.{isEstimated && " Some tokens are estimates."}
      </p>
    </>
  );
}

function Row({ row, by }: { row: ModelUsage; by: Column }) {
  const { value, name, calls, input_tokens: input, cached_tokens: cached, output_tokens: output } = row;
  const unnamed = by === "notebook" || by === "person" ? "No longer available" : value === "" ? "None" : value;
  const words = name ?? unnamed;
  return (
    <tr>
      <td title={words}>{words}</td>
      <td>{calls}</td>
      <td title={`${input} tokens, ${cached} of them cached`}>{tokenWords(input)}</td>
      <td title={`${output} tokens`}>{tokenWords(output)}</td>
      <td>{costWords(row)}</td>
    </tr>
  );
}
