// Dialog with the schedules of a notebook: when each runs next, how the last run ended, and a form. Lazy: loads when it opens.
import { CalendarPlus } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import type { ScheduleSettings } from "../../../protocol/messages.ts";
import type { Schedules as Listed } from "../../../protocol/rest.ts";
import { newId } from "../../../transport/ids.ts";
import { TitledDialog } from "../../../ui/TitledDialog.tsx";
import { ScheduleForm } from "./ScheduleForm.tsx";
import { ScheduleItem } from "./ScheduleItem.tsx";

export default function Schedules({ store, close }: { store: NotebookStore; close: () => void }) {
  useTopics(store, "schedules", "access");
  const { schedules } = store.document;
  /** Schedule in the form, with its settings when the form was opened; without settings it is a new one. */
  const [changed, setChanged] = useState<{ id: string; settings?: ScheduleSettings }>();
  const [next, setNext] = useState<ReadonlyMap<string, number>>(new Map());
  const [error, setError] = useState<string>();
  const isPerson = store.session.me.actor.kind === "user";
  const mayChange = store.mayRun && isPerson && !store.document.archived;
  // Only the server knows the calendar: it is asked again whenever a schedule has changed.
  const told = JSON.stringify([...schedules.values()].map(({ settings, after, stopped }) => [settings, after, stopped]));
  useEffect(() => {
    store.session.rest.get<Listed>(`/api/notebooks/${encodeURIComponent(store.id)}/schedules`).then(
      ({ schedules: lines }) => {
        setNext(new Map(lines.flatMap((line) => (line.next[0] ? [[line.id, line.next[0]]] : []))));
        setError(undefined);
      },
      (failure: Error) => setError(`Couldn’t load the next times. ${failure.message}`),
    );
  }, [store, told]);
  const done = useCallback(() => setChanged(undefined), []);
  const form = changed && (
    <ScheduleForm
      store={store}
      id={changed.id}
      settings={changed.settings}
      isGone={changed.settings !== undefined && !schedules.has(changed.id)}
      done={done}
    />
  );
  return (
    <TitledDialog kind="schedules" title="Schedules" error={error} close={close}>
      {schedules.size === 0 && changed === undefined && (
        <p className="quiet">
          No schedules yet. A schedule runs this notebook at set times. Each run is a copy with its outputs, in the list of
          notebooks.
        </p>
      )}
      <ul className="schedule-list" aria-label="Schedules">
        {[...schedules].map(([id, schedule]) => (
          <li key={id}>
            {changed?.id === id ? (
              form
            ) : (
              <ScheduleItem
                store={store}
                id={id}
                schedule={schedule}
                next={next.get(id)}
                mayChange={mayChange}
                change={() => setChanged({ id, settings: schedule.settings })}
              />
            )}
          </li>
        ))}
        {changed !== undefined && !schedules.has(changed.id) && <li key={changed.id}>{form}</li>}
      </ul>
      {mayChange && changed === undefined && (
        <button className="button add-schedule" onClick={() => setChanged({ id: newId() })}>
          <CalendarPlus size={15} aria-hidden /> Add a schedule
        </button>
      )}
      {!mayChange && <p className="quiet small">{whyNot(store, isPerson)}</p>}
    </TitledDialog>
  );
}

function whyNot(store: NotebookStore, isPerson: boolean): string {
  if (store.document.archived) return "This notebook is archived, so nothing runs. Unarchive it in the list of notebooks.";
  if (!isPerson) return "Only people with an account can set schedules.";
  return "Your role here doesn’t allow you to run this notebook.";
}
