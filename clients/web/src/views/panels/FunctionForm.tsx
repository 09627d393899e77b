// Dialog that calls a function registered in a kernel: a form from its schema, and the result of the run. Lazy: loads when it
// opens.
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { type Field, type Schema, fieldOfRefusal, fieldsOf, filled, initially } from "../../app/state/functions.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { statusWords, wordOf } from "../../app/words/words.ts";
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Execution, RegisteredFunction, Risk } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
import { Rejected } from "../../transport/outbox.ts";
import { sentenceOf } from "../../transport/refusals.ts";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { KernelLog } from "../cell/Ended.tsx";
import { OutputList } from "../outputs/Outputs.tsx";
import { RunProgress } from "../outputs/RunProgress.tsx";

interface Props {
  store: NotebookStore;
  close: () => void;
}

const FIELDS = ".function-field :is(input, select, textarea)";

export default function FunctionForm({ store, close }: Props) {
  useTopics(store, "notebook", "kernels");
  const all = [...store.document.functions.values()].sort((a, b) => a.function.name.localeCompare(b.function.name));
  const [name, setName] = useState<string>();
  const popup = useRef<HTMLDivElement>(null);
  // Touch: focusing a field would open the on-screen keyboard over the form.
  const focus = (by: string) => (by === "touch" ? null : popup.current?.querySelector<HTMLElement>(FIELDS)) ?? true;
  const chosen = all.find((each) => each.function.name === name) ?? all.find((each) => each.kernel_session) ?? all[0];
  return (
    <TitledDialog kind="function-form" title="Call a function" close={close} ref={popup} initialFocus={focus}>
      {!chosen && (
        <p className="quiet">
          No functions yet. Put <code>@notarium.tool</code> above a function in a cell and run it.
        </p>
      )}
      {chosen && (
        <>
          {all.length > 1 && (
            <label className="row">
              <span className="quiet">Function</span>
              <select className="select grow" value={chosen.function.name} onChange={({ target }) => setName(target.value)}>
                {all.map(({ function: { name: each } }) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
          )}
          <Call key={`${chosen.function.name} ${chosen.function.version}`} store={store} registered={chosen} />
        </>
      )}
    </TitledDialog>
  );
}

/** A destructive function has a warning of its own. */
const RISKS = {
  read: "Read-only",
  edit: "Makes changes that can be undone",
  sensitive: "Reaches outside this notebook",
} satisfies Record<Exclude<Risk, "destructive">, string>;

function Call({ store, registered }: { store: NotebookStore; registered: RegisteredFunction }) {
  const { name, description, schema, risk } = registered.function;
  const fields = fieldsOf(schema as Schema);
  const [texts, setTexts] = useState(() => initially(fields));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<string>();
  const [isMeant, setMeant] = useState(false);
  const [execution, setExecution] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  // Focuses the first invalid field.
  useEffect(() => void form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [errors]);
  // Unknown risks count as destructive.
  const riskWords = wordOf(RISKS, risk);
  const isDestructive = riskWords === undefined;
  const isThere = registered.kernel_session != null;
  const call = async (event: FormEvent) => {
    event.preventDefault();
    const { arguments: given, errors: wrong } = filled(fields, texts);
    setErrors(wrong);
    setProblem(undefined);
    if (Object.keys(wrong).length > 0) return;
    const execution_id = newId();
    const target = { function: { name, arguments: given, confirmed: isMeant } };
    try {
      await store.replica.command({ RequestExecution: { execution_id, target, stop_on_error: false } });
      setExecution(execution_id);
      setMeant(false);
    } catch (error) {
      const details = error instanceof Rejected ? error.rejection.details : undefined;
      const wrong = details?.kind === "argument" ? details : undefined;
      const field = wrong && fieldOfRefusal(fields, wrong.place);
      if (!wrong || field === undefined) setProblem((error as Error).message);
      else setErrors({ [field]: sentenceOf(wrong.problem).replace(/\.$/, "") });
    }
  };
  return (
    <form ref={form} className="stack" noValidate onSubmit={(event) => void call(event)}>
      {description && <p className="function-about">{description}</p>}
      <p className={isDestructive ? "small bad" : "small quiet"}>{riskWords ?? "Can permanently delete data"}</p>
      {fields.length > 0 && (
        <Fields
          fields={fields}
          texts={texts}
          errors={errors}
          typed={(path, text) => setTexts((known) => ({ ...known, [path]: text }))}
        />
      )}
      {isDestructive && (
        <label className="row">
          <input type="checkbox" checked={isMeant} onChange={({ target }) => setMeant(target.checked)} /> I understand and want to
          run it
        </label>
      )}
      {!isThere && <p className="note small">Its kernel has stopped. Run the cell that defines it again.</p>}
      {problem && (
        <p className="error" role="alert">
          {problem}
        </p>
      )}
      <div className="row actions">
        <button className="button primary" disabled={!store.mayRun || !isThere || (isDestructive && !isMeant)}>
          Call {name}
        </button>
        {!store.mayRun && <span className="quiet small">You can’t run code in this notebook.</span>}
      </div>
      {execution && <Result key={execution} store={store} execution={execution} />}
    </form>
  );
}

interface FieldsProps {
  fields: Field[];
  texts: Record<string, string>;
  errors: Record<string, string>;
  typed: (path: string, text: string) => void;
}

function Fields({ fields, texts, errors, typed }: FieldsProps) {
  return (
    <div className="function-fields">
      {fields.map((field) =>
        field.kind === "object" ? (
          <fieldset key={field.path}>
            <legend>
              <span className="mono">{field.name}</span>
              {field.isRequired && <Needed />}
            </legend>
            {field.about && <p className="small quiet">{field.about}</p>}
            <Fields fields={field.fields} texts={texts} errors={errors} typed={typed} />
          </fieldset>
        ) : (
          <FieldOf
            key={field.path}
            field={field}
            text={texts[field.path] ?? ""}
            error={errors[field.path]}
            typed={(text) => typed(field.path, text)}
          />
        ),
      )}
    </div>
  );
}

const Needed = () => (
  <span className="bad" aria-hidden title="Required">
    {" "}
    *
  </span>
);

interface FieldProps {
  field: Field;
  text: string;
  error: string | undefined;
  typed: (text: string) => void;
}

function FieldOf({ field, text, error, typed }: FieldProps) {
  const id = useId();
  const { name, kind, about, words, isRequired, example } = field;
  // A choice shows its options already, and an error replaces the type hint.
  const hint = about || (kind === "choice" || error ? "" : words);
  const shared = {
    id,
    value: text,
    "aria-required": isRequired,
    "aria-invalid": error !== undefined,
    "aria-describedby": `${id}-about`,
  };
  return (
    <div className={`function-field is-${kind}`}>
      <label htmlFor={id}>
        <span className="mono">{name}</span>
        {isRequired && <Needed />}
      </label>
      {kind === "choice" ? (
        <select className="select" {...shared} onChange={({ target }) => typed(target.value)}>
          {(!isRequired || text === "") && <option value="">{isRequired ? "Choose…" : "–"}</option>}
          {field.choices.map((choice, index) => (
            <option key={index} value={index}>
              {typeof choice === "string" ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      ) : kind === "json" ? (
        <textarea
          className="field mono"
          rows={2}
          spellCheck={false}
          placeholder={example}
          {...shared}
          onChange={({ target }) => typed(target.value)}
        />
      ) : (
        <input
          className="field"
          type={kind === "date" ? "date" : "text"}
          inputMode={kind === "number" ? "decimal" : undefined}
          autoComplete="off"
          {...shared}
          onChange={({ target }) => typed(target.value)}
        />
      )}
      <p id={`${id}-about`} className="small quiet">
        {error && <span className="bad">{error}. </span>}
        {hint}
      </p>
    </div>
  );
}

/** Result of the call: from the document during the run, then by REST, since the document drops finished runs. */
function Result({ store, execution }: { store: NotebookStore; execution: string }) {
  useTopics(store, "executions");
  const live = store.document.executions.get(execution);
  const [ended, setEnded] = useState<Execution>();
  const [problem, setProblem] = useState<string>();
  const isOver = live === undefined || isFinished(live.status);
  const place = useRef<HTMLElement>(null);
  // The result may be below the visible part of the dialog.
  useEffect(() => void place.current?.scrollIntoView({ block: "nearest" }), [ended, problem]);
  useEffect(() => {
    if (!isOver) return;
    const path = `/api/notebooks/${encodeURIComponent(store.id)}/runs/${execution}`;
    store.session.rest.get<{ execution: Execution }>(path).then(
      (run) => setEnded(run.execution),
      (error: Error) => setProblem(error.message),
    );
  }, [store, execution, isOver]);
  const run = ended ?? live;
  if (problem) return <p className="error">Couldn’t load the run. {problem}</p>;
  if (!run) return <div className="shape" aria-busy="true" />;
  return (
    <section ref={place} className="stack tight call-result" aria-label="Result" aria-live="polite">
      <p className="row small">
        <span className={run.status === "error" || run.status === "lost" ? "bad" : "quiet"}>{statusWords(run)}</span>
        {!isFinished(run.status) && (
          <button
            type="button"
            className="button bare small"
            disabled={run.cancel_requested}
            onClick={() => void store.send({ CancelExecution: { execution_id: execution } })}
          >
            Stop
          </button>
        )}
      </p>
      {!isFinished(run.status) && <RunProgress store={store} execution={execution} kernel={run.kernel_session} />}
      <KernelLog detail={run.notice} />
      <OutputList store={store} outputs={run.outputs ?? []} run={run} isGrowing={!isFinished(run.status)} />
    </section>
  );
}
