// Runtime agents: their tokens, their machines' load, new tokens and revocation.
import { Plus, Trash2 } from "lucide-react";
import { useCallback, useState } from "react";
import { labelWords, machineWords } from "../../app/words/machineWords.ts";
import { sizeWords } from "../../app/words/sizes.ts";
import { ago } from "../../app/words/words.ts";
import type { NotebookAgent, Token, Workspace } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { IconButton } from "../../ui/IconButton.tsx";
import type { SectionOf } from "./Administration.tsx";
import { type Machines, loadAgents, loadMachines } from "./agentLoads.ts";
import { Section, useFollowed, useLoaded } from "./loading.tsx";
import { NewAgent } from "./NewAgent.tsx";
import { Question } from "./Question.tsx";
import type { NameOf } from "./people.ts";
import { countWords, dayWords } from "./words.ts";

interface Overview {
  tokens: Token[];
  workspaces: Workspace[];
  /** Absent: the server doesn’t tell. */
  machines: Machines | undefined;
  agents: Map<string, NotebookAgent>;
}

async function loadOverview(rest: Rest): Promise<Overview> {
  const tokens = await rest.get<Token[]>("/api/agents");
  const nothing = () => undefined;
  const [workspaces, machines, agents] = await Promise.all([
    rest.get<Workspace[]>("/api/workspaces").catch(nothing),
    loadMachines(rest).catch(nothing),
    loadAgents(rest, tokens).catch(nothing),
  ]);
  return { tokens, workspaces: workspaces ?? [], machines, agents: agents ?? new Map<string, NotebookAgent>() };
}

export function Agents({ session, nameOf }: SectionOf) {
  const loaded = useLoaded(session, loadOverview);
  const { value, reload, change } = loaded;
  useFollowed(session, reload);
  const [isAdding, setIsAdding] = useState(false);
  const [asked, setAsked] = useState<Token>();
  const revoke = useCallback(
    async (rest: Rest, { id }: Token) => {
      await rest.json("DELETE", `/api/agents/${id}`);
      change((before) => ({ ...before, tokens: before.tokens.filter((token) => token.id !== id) }));
    },
    [change],
  );
  return (
    <>
      <Section
        title="Agents"
        about={value?.machines ? machinesWords(value.machines) : "Machines that run kernels."}
        loaded={loaded}
        empty={value?.tokens.length === 0 ? "No agents yet. Create a token and start an agent with it on a machine." : undefined}
        tools={
          <button className="button primary" disabled={!value} onClick={() => setIsAdding(true)} aria-haspopup="dialog">
            <Plus size={15} aria-hidden /> New agent
          </button>
        }
      >
        <table className="accounts-table">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Machine</th>
              <th scope="col" className="wide">
                Notebooks
              </th>
              <th scope="col" className="wide">
                Token
              </th>
              <th scope="col" className="tool">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value?.tokens.map((token) => (
              <Row
                key={token.id}
                token={token}
                agent={value.agents.get(token.agent ?? "")}
                coverage={coverageOf(token, value.workspaces)}
                nameOf={nameOf}
                revoke={() => setAsked(token)}
              />
            ))}
          </tbody>
        </table>
      </Section>
      {isAdding && value && (
        <NewAgent
          session={session}
          workspaces={value.workspaces.filter(({ role }) => role === "owner")}
          created={() => void reload()}
          close={() => setIsAdding(false)}
        />
      )}
      {asked && (
        <Question
          session={session}
          title={`Revoke the token of ${asked.label || "this agent"}?`}
          button="Revoke token"
          isDestructive
          run={(rest) => revoke(rest, asked)}
          close={() => setAsked(undefined)}
        >
          The agent is disconnected immediately, and its kernels are lost. This can’t be undone.
        </Question>
      )}
    </>
  );
}

interface RowProps {
  token: Token;
  agent: NotebookAgent | undefined;
  coverage: string;
  nameOf: NameOf;
  revoke: () => void;
}

function Row({ token, agent, coverage, nameOf, revoke }: RowProps) {
  const { label, created_by, created_at, expires_at } = token;
  const labels = labelWords(agent?.labels);
  return (
    <tr>
      <th scope="row">
        <span className="words">
          <span dir="auto">{label || "Agent"}</span>
          {labels && <span className="quiet small">{labels}</span>}
          <span className="quiet small narrow">{coverage}</span>
        </span>
      </th>
      <td>{stateWords(token, agent)}</td>
      <td className="wide">{coverage}</td>
      <td className="wide">
        <span className="words">
          <span>{expires_at == null ? "Until revoked" : `Until ${dayWords(expires_at)}`}</span>
          <span className="quiet small">
            {nameOf(created_by)}, {dayWords(created_at)}
          </span>
        </span>
      </td>
      <td className="tool">
        <IconButton label={`Revoke the token of ${label || "this agent"}`} title="Revoke token" onClick={revoke}>
          <Trash2 size={15} />
        </IconButton>
      </td>
    </tr>
  );
}

/** Load of the machine, else the last use of the token. */
function stateWords({ last_used_at }: Token, agent: NotebookAgent | undefined): string {
  if (agent?.connected) return machineWords(agent) || "Connected";
  const used = last_used_at == null ? "Never connected" : `Last connected ${ago(last_used_at)}`;
  return agent ? `Not connected. ${used}.` : used;
}

function coverageOf({ covers: { notebooks, workspace } }: Token, workspaces: readonly Workspace[]): string {
  if (notebooks) return countWords(notebooks.length, "notebook");
  if (workspace == null) return "All notebooks";
  const name = workspaces.find(({ id }) => id === workspace)?.name;
  return name === undefined ? "One workspace" : `Workspace ${name}`;
}

/** Example: “1 machine connected: 8 cores, 12 % busy; 32 GB of memory, 40 % used”. */
export function machinesWords({ agents, cores, busyCores, memoryBytes, usedMemoryBytes, gpus, busyGpus }: Machines): string {
  const count = `${countWords(agents, "machine")} connected`;
  if (agents === 0) return `${count}.`;
  const percent = (part: number, whole: number) => (whole > 0 ? Math.round((100 * part) / whole) : 0);
  const parts = [
    `${countWords(cores, "core")} (${percent(busyCores, cores)} % used)`,
    `${sizeWords(memoryBytes)} of memory (${percent(usedMemoryBytes, memoryBytes)} % used)`,
    ...(gpus > 0 ? [`${countWords(gpus, "GPU")} (${percent(busyGpus, gpus)} % used)`] : []),
  ];
  return `${count}: ${parts.join(", ")}.`;
}
