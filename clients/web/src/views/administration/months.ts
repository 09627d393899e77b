// Months in UTC, as periods of spending.
export interface Month {
  /** First and last day, as in `2026-11-01`. */
  since: string;
  until: string;
  words: string;
}

const format = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** The month of a time and those before it, the latest first. */
export function monthsBefore(now: number, count: number): Month[] {
  const today = new Date(now);
  return Array.from({ length: count }, (_, back) => {
    const first = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1);
    const last = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back + 1, 0);
    return { since: dayOf(first), until: dayOf(last), words: format.format(first) };
  });
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
