// Form of a schedule: its times by choice or as a line of cron, the version, parameters, and where it runs.
import { type FormEvent, useEffect, useState } from "react";
import { serverNow } from "../../../app/session/clock.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { labelWords, labelsOf } from "../../../app/words/machineWords.ts";
import { DAYS, RHYTHMS, type Rhythm, cronOf, timesOf, untilWords } from "../../../app/words/scheduleWords.ts";
import { exactJson, parseJson } from "../../../protocol/exactJson.ts";
import type { ScheduleSettings } from "../../../protocol/messages.ts";
import type { ScheduleTimes } from "../../../protocol/rest.ts";
import { sentenceOf } from "../../../transport/refusals.ts";

interface Props {
  store: NotebookStore;
  id: string;
  /** Settings of the schedule that is changed. */
  settings?: ScheduleSettings;
  /** True: somebody has deleted it meanwhile. */
  isGone?: boolean;
  done: () => void;
}

/** Pause after the last key before the server is asked for the times. */
const ASK_MS = 300;

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function ScheduleForm({ store, id, settings, isGone = false, done }: Props) {
  const [times, setTimes] = useState(() => timesOf(settings?.cron ?? "0 6 * * 1-5"));
  const [timezone, setTimezone] = useState(settings?.timezone ?? ownZone());
  const [isPinned, setPinned] = useState(settings?.version != null);
  const [parameters, setParameters] = useState(() => (settings?.parameters ? exactJson(settings.parameters, 1) : ""));
  const [labels, setLabels] = useState(() => labelWords(settings?.labels ?? {}));
  const [catchUp, setCatchUp] = useState(settings?.catch_up ?? false);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const cron = cronOf(times);
  const change = (part: Partial<typeof times>) => setTimes({ ...times, ...part });
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const given = objectOf(parameters);
    const wanted = labelsOf(labels);
    if (!given) return setError('Write parameters as a JSON object, such as {"region": "north"}.');
    if (!wanted) return setError("Write labels as key=value, such as gpu=a100.");
    setBusy(true);
    const version = isPinned ? (settings?.version ?? store.document.version) : null;
    const { agent = null, max_run_minutes = null, kept_runs = null } = settings ?? {};
    const kept = { agent, max_run_minutes, kept_runs };
    const chosen = { cron, timezone, version, parameters: given, labels: labels.trim() === "" ? null : wanted, catch_up: catchUp };
    try {
      await store.replica.command({ SetSchedule: { schedule_id: id, ...kept, ...chosen } });
      done();
    } catch (refused) {
      setError(sentenceOf((refused as Error).message));
      setBusy(false);
    }
  };
  return (
    <form
      className="stack schedule-form"
      aria-label={settings ? "Edit schedule" : "New schedule"}
      onSubmit={(event) => void save(event)}
    >
      <label className="stack tight">
        <span className="small quiet">Repeat</span>
        <select className="select" value={times.rhythm} onChange={({ target }) => change({ rhythm: target.value as Rhythm, cron })}>
          {(Object.keys(RHYTHMS) as Rhythm[]).map((rhythm) => (
            <option key={rhythm} value={rhythm}>
              {RHYTHMS[rhythm]}
            </option>
          ))}
        </select>
      </label>
      {times.rhythm === "weekly" && (
        <label className="stack tight">
          <span className="small quiet">Day</span>
          <select className="select" value={times.day} onChange={({ target }) => change({ day: Number(target.value) })}>
            {DAYS.map((day, index) => (
              <option key={day} value={index}>
                {day}
              </option>
            ))}
          </select>
        </label>
      )}
      {times.rhythm === "custom" ? (
        <label className="stack tight">
          <span className="small quiet">Cron: minute, hour, day of the month, month, day of the week</span>
          <input
            className="field"
            type="text"
            spellCheck={false}
            placeholder="0 6 * * 1-5"
            value={times.cron}
            onChange={({ target }) => change({ cron: target.value })}
          />
        </label>
      ) : (
        <label className="stack tight">
          <span className="small quiet">Time</span>
          <input
            className="field"
            type="time"
            required
            value={times.time}
            onChange={({ target }) => change({ time: target.value })}
          />
        </label>
      )}
      <label className="stack tight">
        <span className="small quiet">Time zone</span>
        <input
          className="field"
          type="text"
          list="schedule-zones"
          spellCheck={false}
          value={timezone}
          onChange={({ target }) => setTimezone(target.value.trim())}
        />
        <datalist id="schedule-zones">
          {Intl.supportedValuesOf("timeZone").map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </label>
      <NextTimes store={store} cron={cron} timezone={timezone} />
      <label className="stack tight">
        <span className="small quiet">Version</span>
        <select
          className="select"
          value={isPinned ? "pinned" : "newest"}
          onChange={({ target }) => setPinned(target.value === "pinned")}
        >
          <option value="newest">The newest at each run</option>
          <option value="pinned">Always version {settings?.version ?? store.document.version}</option>
        </select>
      </label>
      <label className="stack tight">
        <span className="small quiet">Parameters (JSON, optional): variables for the cell tagged “parameters”</span>
        <textarea
          className="field"
          rows={2}
          spellCheck={false}
          placeholder='{"region": "north"}'
          value={parameters}
          onChange={({ target }) => setParameters(target.value)}
        />
      </label>
      <label className="stack tight">
        <span className="small quiet">Machine labels (optional)</span>
        <input
          className="field"
          type="text"
          spellCheck={false}
          placeholder="gpu=a100"
          value={labels}
          onChange={({ target }) => setLabels(target.value)}
        />
      </label>
      <label className="choice">
        <input type="checkbox" checked={catchUp} onChange={({ target }) => setCatchUp(target.checked)} />
        <span>
          Catch up
          <span className="small quiet">If runs were missed, run once as soon as possible</span>
        </span>
      </label>
      {isGone && <p className="small bad">This schedule was deleted meanwhile. Saving adds it again.</p>}
      <p className="small quiet">It runs in your name, with the rights you have at the time of each run.</p>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button className="button primary" type="submit" disabled={isBusy}>
          {settings ? "Save" : "Add schedule"}
        </button>
        <button className="button" type="button" onClick={done}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** The next times of the line, or why it has none. */
function NextTimes({ store, cron, timezone }: { store: NotebookStore; cron: string; timezone: string }) {
  const [told, setTold] = useState<{ next: number[] } | { error: string }>();
  useEffect(() => {
    const query = new URLSearchParams({ cron, timezone });
    let isOver = false;
    const timer = setTimeout(() => {
      store.session.rest.get<ScheduleTimes>(`/api/schedule-times?${query}`).then(
        ({ next }) => isOver || setTold({ next }),
        (failure: Error) => isOver || setTold({ error: sentenceOf(failure.message) }),
      );
    }, ASK_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [store, cron, timezone]);
  if (!told) return null;
  if ("error" in told) return <p className="small bad">{capital(told.error)}</p>;
  const [first, second] = told.next.map((at) => untilWords(at, serverNow()));
  if (first === undefined) return null;
  return (
    <p className="small quiet" role="status">
      First run {first}
      {second !== undefined && `, then ${second}`}
    </p>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The object that a text is; `undefined`: it is none. */
function objectOf(text: string): { [name: string]: unknown } | undefined {
  if (text.trim() === "") return {};
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as { [name: string]: unknown })
      : undefined;
  } catch {
    return undefined;
  }
}
