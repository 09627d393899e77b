// Words that several sections share: days, times, hosts and counts.
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export function dayWords(at: number): string {
  return day.format(at);
}

const inYear = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
const withYear = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Day and time, without the current year. */
export function timeWords(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? inYear : withYear).format(at);
}

/** Host of a URL; the text itself if it is no URL. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** Example: “1 notebook”, “1,200 notebooks”. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
