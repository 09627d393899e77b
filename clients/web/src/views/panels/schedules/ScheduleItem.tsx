// One schedule in the list: its times, its next run, the end of the last one, and past runs.
import { CircleAlert, CircleCheck, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { serverNow } from "../../../app/session/clock.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { isTrouble, outcomeWords, timesWords, untilWords } from "../../../app/words/scheduleWords.ts";
import { ago, date } from "../../../app/words/words.ts";
import type { Command, LastScheduledRun, Schedule } from "../../../protocol/messages.ts";
import type { ScheduledRunLine, ScheduledRuns } from "../../../protocol/rest.ts";
import { newId } from "../../../transport/ids.ts";
import { sentenceOf } from "../../../transport/refusals.ts";

interface Props {
  store: NotebookStore;
  id: string;
  schedule: Schedule;
  /** Time of the next run. */
  next: number | undefined;
  mayChange: boolean;
  change: () => void;
}

export function ScheduleItem({ store, id, schedule, next, mayChange, change }: Props) {
  const { settings, run, last, stopped } = schedule;
  const [error, setError] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const send = (command: Command) => {
    setError(undefined);
    store.replica.command(command).catch((refused: Error) => setError(sentenceOf(refused.message)));
  };
  const name = timesWords(settings.cron, settings.timezone);
  return (
    <section className="schedule" aria-label={name}>
      <p>
        <strong>{name}</strong>
      </p>
      <p className="small quiet">
        {settings.version == null ? "Newest version" : `Version ${settings.version}`}
        {" · "}
        {stateWords(schedule, next)}
      </p>
      {run && (
        <p className="small outcome">
          <LoaderCircle size={14} aria-hidden className="turning" /> Running now: <RunLink notebook={run.notebook} />
        </p>
      )}
      {last && <Outcome last={last} />}
      {stopped && <p className="small bad">Stopped. Set it again to run it in your name.</p>}
      {error && (
        <p className="error small" role="alert">
          {error}
        </p>
      )}
      <PastRuns store={store} id={id} />
      {mayChange && !isAsking && (
        <div className="row">
          <button
            className="button"
            disabled={run != null}
            onClick={() => send({ RunSchedule: { schedule_id: id, run: newId() } })}
          >
            Run now
          </button>
          <button className="button" onClick={change}>
            Edit
          </button>
          <button className="button" onClick={() => setAsking(true)}>
            Delete
          </button>
        </div>
      )}
      {mayChange && isAsking && (
        <div className="row" role="group" aria-label="Delete this schedule?">
          <span className="small grow">Delete this schedule? {run ? "The run under way is stopped. " : ""}Past runs stay.</span>
          <button className="button" onClick={() => setAsking(false)}>
            Keep
          </button>
          <button className="button danger" onClick={() => send({ RemoveSchedule: { schedule_id: id } })}>
            Delete schedule
          </button>
        </div>
      )}
    </section>
  );
}

function stateWords({ stopped, run }: Schedule, next: number | undefined): string {
  if (stopped) return "stopped";
  if (run) return "a run is under way";
  return next === undefined ? "no next run" : `next run ${untilWords(next, serverNow())}`;
}

function Outcome({ last }: { last: LastScheduledRun }) {
  const isBad = isTrouble(last.outcome);
  return (
    <p className={isBad ? "small outcome bad" : "small outcome"} title={date(last.ended_at)}>
      {isBad ? <CircleAlert size={14} aria-hidden /> : <CircleCheck size={14} aria-hidden />}
      <span>
        {outcomeWords(last)} {ago(last.ended_at)}
      </span>
      {last.notebook != null && <RunLink notebook={last.notebook} />}
    </p>
  );
}

function RunLink({ notebook }: { notebook: string }) {
  return <a href={`#/n/${encodeURIComponent(notebook)}`}>Open the run</a>;
}

/** Past runs, which load when they are asked for. */
function PastRuns({ store, id }: { store: NotebookStore; id: string }) {
  const [runs, setRuns] = useState<ScheduledRunLine[]>();
  const [error, setError] = useState<string>();
  const path = `/api/notebooks/${encodeURIComponent(store.id)}/schedules/${encodeURIComponent(id)}/runs?limit=20`;
  const load = () =>
    void store.session.rest.get<ScheduledRuns>(path).then(
      (page) => setRuns(page.runs),
      (failure: Error) => setError(failure.message),
    );
  return (
    <details className="past-runs" onToggle={({ currentTarget }) => currentTarget.open && load()}>
      <summary className="small">Past runs</summary>
      {error && <p className="error small">Couldn’t load the runs. {error}</p>}
      {runs?.length === 0 && <p className="quiet small">No runs yet.</p>}
      <ul className="small" aria-label="Past runs, newest first">
        {runs?.map((run) => (
          <li key={run.version}>
            <span className="quiet">{date(run.due ?? run.started_at ?? run.ended_at ?? 0)}</span>{" "}
            {run.outcome == null ? "Running now" : outcomeWords({ ...run, outcome: run.outcome })}{" "}
            {run.run != null && <RunLink notebook={run.run} />}
          </li>
        ))}
      </ul>
    </details>
  );
}
