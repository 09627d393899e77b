// Words that several sections share: days, hosts and counts.
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export function dayWords(at: number): string {
  return day.format(at);
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
