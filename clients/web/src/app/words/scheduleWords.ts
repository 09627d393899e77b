// Schedules in words: lines of cron as people choose them, and ends of runs.
import type { LastScheduledRun } from "../../protocol/messages.ts";
import { date, plain, wordOf } from "./words.ts";

/** Times that the form offers. */
export type Rhythm = "daily" | "workdays" | "weekly" | "monthly" | "custom";

export const RHYTHMS: { readonly [rhythm in Rhythm]: string } = {
  daily: "Every day",
  workdays: "Every weekday, Monday to Friday",
  weekly: "Every week",
  monthly: "Every month, on the first day",
  custom: "Custom (cron)",
};

export const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Choice in the form: a rhythm, a time of day, a day of the week, or a line of cron. */
export interface Times {
  rhythm: Rhythm;
  /** `06:00`. */
  time: string;
  /** 0 is Sunday. */
  day: number;
  cron: string;
}

/** Line of cron of a choice. */
export function cronOf({ rhythm, time, day, cron }: Times): string {
  const [hour = 6, minute = 0] = time.split(":").map(Number);
  const days = { daily: "* * *", workdays: "* * 1-5", weekly: `* * ${day}`, monthly: "1 * *" };
  return rhythm === "custom" ? cron.trim() : `${minute} ${hour} ${days[rhythm]}`;
}

/** Choice that gives a line of cron. */
export function timesOf(cron: string): Times {
  const found = /^(\d{1,2}) (\d{1,2}) (\*|1) \* (\*|1-5|[0-6])$/.exec(cron.trim());
  const [, minute = "0", hour = "6", date, days = "*"] = found ?? [];
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  const of = (rhythm: Rhythm, day = 1): Times => ({ rhythm, time, day, cron });
  if (!found || (date === "1" && days !== "*")) return of("custom");
  if (date === "1") return of("monthly");
  if (days === "*") return of("daily");
  return days === "1-5" ? of("workdays") : of("weekly", Number(days));
}

/** “Every weekday at 06:00”. A line that the form does not offer stays a line of cron. */
export function timesWords(cron: string, timezone: string): string {
  const { rhythm, time, day } = timesOf(cron);
  const when = {
    daily: `Every day at ${time}`,
    workdays: `Every weekday at ${time}`,
    weekly: `Every ${DAYS[day] ?? "week"} at ${time}`,
    monthly: `On the first of each month at ${time}`,
    custom: cron,
  };
  return `${when[rhythm]} (${timezone})`;
}

const OUTCOMES = {
  succeeded: "Succeeded",
  failed: "Failed",
  lost: "Lost: the kernel or its machine is gone",
  cancelled: "Cancelled",
  timed_out: "Stopped: it took too long",
  not_started: "Didn’t start",
  refused: "Stopped: no permission to run",
  missed: "Missed",
};

type Ended = Pick<LastScheduledRun, "outcome" | "error" | "detail" | "missed">;

/** “Failed: ValueError: no rows”. */
export function outcomeWords({ outcome, error, detail, missed }: Ended): string {
  const words = wordOf(OUTCOMES, outcome) ?? plain(outcome);
  if (missed != null && missed > 1) return `${words} ${missed} times`;
  const more = [error, detail].filter((part) => part != null && part !== "").join(": ");
  return more === "" ? words : `${words}: ${more}`;
}

/** True for ends that a person should look at. */
export function isTrouble(outcome: unknown): boolean {
  return outcome !== "succeeded" && outcome !== "cancelled";
}

/** “tomorrow”, “in 3 h”, or the date. */
export function untilWords(at: number, now: number): string {
  const minutes = Math.round((at - now) / 60_000);
  if (minutes < 1) return "in less than a minute";
  if (minutes < 60) return `in ${minutes} min`;
  if (minutes < 24 * 60) return `in ${Math.round(minutes / 60)} h`;
  return date(at);
}
