// Events of schedules: when the notebook runs by itself.
import type { Schedule } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { present } from "../values.ts";

export const scheduleEvents: Handlers = {
  ScheduleSet({ schedule_id, settings }, { document, event, touched }) {
    const { run, last } = document.schedules.get(schedule_id) ?? {};
    const schedule = present({ maker: event.actor, settings, after: event.recorded_at, run, last });
    document.schedules.set(schedule_id, schedule as Schedule);
    touched.part("schedules");
  },
  ScheduleRemoved({ schedule_id }, { document, touched }) {
    document.schedules.delete(schedule_id);
    touched.part("schedules");
  },
  ScheduledRunStarted({ schedule_id, run, version, due }, folding) {
    change(schedule_id, due, folding, (schedule) => {
      const { actor, recorded_at: started_at } = folding.event;
      const { maker, settings } = schedule;
      const started = { notebook: run, version, due, started_at, actor: actor.kind === "user" ? actor : maker, settings };
      return { ...schedule, run: present(started) as NonNullable<Schedule["run"]> };
    });
  },
  ScheduledRunEnded({ schedule_id, run, due, outcome, cell_id, error, detail, missed }, folding) {
    change(schedule_id, due, folding, ({ run: running, ...schedule }) => {
      const ended_at = folding.event.recorded_at;
      const last = present({ notebook: run, due, outcome, ended_at, cell_id, error, detail, missed });
      return {
        ...schedule,
        last: last as NonNullable<Schedule["last"]>,
        ...(run == null && running && { run: running }),
        ...(outcome === "refused" && { stopped: true }),
      };
    });
  },
};

function change(
  id: string,
  due: number | null | undefined,
  { document, touched }: Folding,
  to: (schedule: Schedule) => Schedule,
): void {
  const schedule = document.schedules.get(id);
  if (!schedule) return;
  document.schedules.set(id, to({ ...schedule, after: Math.max(schedule.after, due ?? 0) }));
  touched.part("schedules");
}
