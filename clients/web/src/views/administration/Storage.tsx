// Storage of people and workspaces with their quotas.
import { sizeWords } from "../../app/words/sizes.ts";
import type { AccountUsage, UsageAnswer } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import type { SectionOf } from "./Administration.tsx";
import { useFreshNames } from "./freshNames.ts";
import { Section, useLoaded } from "./loading.tsx";
import { type NameOf } from "./people.ts";
import { countWords } from "./words.ts";
import { workspaceName, workspaceNames } from "./workspaces.ts";

interface Overview {
  accounts: AccountUsage[];
  workspaces: Map<string, string>;
}

async function loadUsage(rest: Rest): Promise<Overview> {
  const [{ accounts }, workspaces] = await Promise.all([rest.get<UsageAnswer>("/api/usage?all=true"), workspaceNames(rest)]);
  return { accounts, workspaces };
}

export function Storage({ session, people, nameOf }: SectionOf) {
  const loaded = useLoaded(session, loadUsage);
  const { accounts = [], workspaces = new Map<string, string>() } = loaded.value ?? {};
  useFreshNames(
    people,
    accounts.flatMap(({ person }) => person ?? []),
  );
  return (
    <Section
      title="Storage"
      about={accounts.length > 0 ? totalWords(accounts) : "Notebooks, their records and large outputs, with quotas."}
      loaded={loaded}
      empty={loaded.value && accounts.length === 0 ? "Nobody has a notebook yet." : undefined}
    >
      <table className="accounts-table usage">
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col" className="wide">
              Notebooks
            </th>
            <th scope="col">Records</th>
            <th scope="col">Large outputs</th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <Row key={account.person ?? account.workspace} account={account} name={nameIn(account, nameOf, workspaces)} />
          ))}
        </tbody>
      </table>
      <p className="quiet small">
        Quotas are options of the server. A notebook in a workspace counts for the workspace, any other for each of its owners.
      </p>
    </Section>
  );
}

function Row({ account: { workspace, used, limits }, name }: { account: AccountUsage; name: string }) {
  return (
    <tr>
      <th scope="row">
        <span className="words">
          <span dir="auto">{name}</span>
          {workspace && <span className="quiet small">Workspace</span>}
          <span className="quiet small narrow">{countWords(used.notebooks, "notebook")}</span>
        </span>
      </th>
      <td className="wide">
        <Part name={name} of="notebooks" used={used.notebooks} limit={limits.notebooks} words={(count) => count.toLocaleString()} />
      </td>
      <td>
        <Part name={name} of="records" used={used.log_bytes} limit={limits.log_bytes} words={sizeWords} />
      </td>
      <td>
        <Part name={name} of="large outputs" used={used.blob_bytes} limit={limits.blob_bytes} words={sizeWords} />
      </td>
    </tr>
  );
}

interface PartProps {
  name: string;
  of: string;
  used: number;
  limit: number;
  words: (amount: number) => string;
}

/** Part of a quota that is marked as nearly used up. */
const NEARLY = 0.9;

function Part({ name, of, used, limit, words }: PartProps) {
  const part = limit > 0 ? Math.min(1, used / limit) : 1;
  return (
    <span className={part >= NEARLY ? "part nearly" : "part"}>
      <span>
        {words(used)} <span className="quiet small">of {words(limit)}</span>
      </span>
      <progress value={part} max={1} aria-label={`${name}: ${of} used of the quota`} />
    </span>
  );
}

function nameIn({ person, workspace }: AccountUsage, nameOf: NameOf, workspaces: ReadonlyMap<string, string>): string {
  if (workspace) return workspaceName(workspaces, workspace);
  return nameOf(person ?? "") ?? "…";
}

/** Sum over all accounts. A notebook with several owners counts for each. */
export function totalWords(accounts: readonly AccountUsage[]): string {
  const sum = (of: (account: AccountUsage) => number) => accounts.reduce((total, account) => total + of(account), 0);
  const [notebooks, log, blobs] = [
    sum(({ used }) => used.notebooks),
    sum(({ used }) => used.log_bytes),
    sum(({ used }) => used.blob_bytes),
  ];
  return `${countWords(notebooks, "notebook")}, ${sizeWords(log)} of records and ${sizeWords(blobs)} of large outputs.`;
}
