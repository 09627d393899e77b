// Machines in the kernel panel: the agents with their load, the choice of one, and the settings of the notebook's kernels.
import { useState } from "react";
import { defaultKernel } from "../../../app/state/kernels.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { labelWords, labelsOf, machineWords } from "../../../app/words/machineWords.ts";
import { kernelName, plain } from "../../../app/words/words.ts";
import type { KernelReplacement } from "../../../protocol/messages.ts";
import type { Kernels, NotebookAgent } from "../../../protocol/rest.ts";

export function Machines({ store, known }: { store: NotebookStore; known: Kernels | undefined }) {
  const agents = known?.agents ?? [];
  if (agents.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Machines">
      <p className="quiet small">Machines</p>
      {agents.map((agent) => (
        <Machine key={agent.id} store={store} agent={agent} isOnly={agents.length === 1} />
      ))}
    </section>
  );
}

type MachineProps = { store: NotebookStore; agent: NotebookAgent; isOnly: boolean };

function Machine({ store, agent, isOnly }: MachineProps) {
  const name = plain(agent.name);
  const first = defaultKernel(store);
  const session = first === undefined ? undefined : store.document.kernels.get(first);
  const isThere = session !== undefined && (session.agent ?? session.placement?.agent) === agent.id;
  const kernelspecs = agent.kernelspecs ?? [];
  const labels = labelWords(agent.labels);
  const start = (kernelspec: string | null) => void store.send({ LaunchKernel: { kernelspec, agent: agent.id } });
  return (
    <div className="stack tight" role="group" aria-label={`Machine ${name}`}>
      <p className="small">
        <strong>{name}</strong> <span className="quiet load">{machineWords(agent)}</span>
        {labels && <span className="quiet"> · {labels}</span>}
      </p>
      <div className="row">
        {first !== undefined && !isThere && (
          <button className="button" disabled={!store.mayRun} onClick={() => void store.runs.restartOn(first, agent.id)}>
            Restart kernel here
          </button>
        )}
        {first === undefined &&
          !isOnly &&
          (kernelspecs.length === 0 ? [null] : kernelspecs).map((kernelspec) => (
            <button key={kernelspec} className="button" disabled={!store.mayRun} onClick={() => start(kernelspec)}>
              Start {kernelspec === null ? "a kernel" : kernelName(kernelspec)} here
            </button>
          ))}
      </div>
    </div>
  );
}

const WHEN_GONE: { readonly [one in KernelReplacement]: [name: string, words: string] } = {
  ask: ["Ask", "Runs wait; after 15 minutes a new kernel takes them"],
  replace: ["Replace", "A waiting run starts a new kernel without the variables"],
  wait: ["Wait", "Runs wait until the machine is back"],
};

/** Settings of the notebook's kernels. */
export function KernelSettingsChoice({ store }: { store: NotebookStore }) {
  const { replacement } = store.document.kernel_settings;
  return (
    <fieldset className="reactivity" disabled={!store.mayOrganise}>
      <legend className="small quiet">If the machine of a kernel is gone</legend>
      {(Object.keys(WHEN_GONE) as KernelReplacement[]).map((value) => (
        <label key={value} className="choice">
          <input
            type="radio"
            name="replacement"
            checked={replacement === value}
            onChange={() => void store.send({ SetKernelSettings: { replacement: value } })}
          />
          <span>
            {WHEN_GONE[value][0]}
            <span className="small quiet">{WHEN_GONE[value][1]}</span>
          </span>
        </label>
      ))}
      <LabelsField store={store} />
    </fieldset>
  );
}

/** Labels that the notebook's kernels ask for. They are sent when the field is left. */
function LabelsField({ store }: { store: NotebookStore }) {
  const present = labelWords(store.document.kernel_settings.labels);
  const [text, setText] = useState<string>();
  const labels = text === undefined ? undefined : labelsOf(text);
  const isWrong = text !== undefined && labels === undefined;
  const save = () => {
    if (labels && labelWords(labels) !== present) void store.send({ SetKernelSettings: { labels } });
    if (!isWrong) setText(undefined);
  };
  return (
    <label className="stack tight small">
      <span className="quiet">Needs a machine with labels</span>
      <input
        type="text"
        placeholder="gpu=a100"
        spellCheck={false}
        value={text ?? present}
        aria-invalid={isWrong}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Enter" && save()}
      />
      {isWrong && <span className="bad">Write labels as key=value, such as gpu=a100.</span>}
    </label>
  );
}
