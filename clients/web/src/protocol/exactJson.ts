// JSON whose integers beyond 2^53 keep their digits. The values are JavaScript's, with rounded numbers, so that digests and messages
// stay as they are; the digits are kept beside them, for what is displayed and copied.

const digits = new WeakMap<object, Map<string, string>>();

/** An integer of 16 or more digits between JSON's delimiters, or a text that looks like one. */
const LIKELY = /(?:^|[[:,\s])-?\d{16,}(?:$|[\],}\s])/;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d{16,}$/;

/** Parses JSON as `JSON.parse` does. `exactText` gives the digits of large integers. */
export function parseJson(text: string): unknown {
  // A text may begin with an escaped mark: such JSON is parsed plainly.
  if (!LIKELY.test(text) || text.includes('"\\u0023')) return JSON.parse(text);
  let mark = "#";
  while (text.includes(`"${mark}`)) mark += "#";
  const marked = text.replace(TOKENS, (token) => (INTEGER.test(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, function (this: object, key: string, value: unknown) {
    if (typeof value !== "string" || !value.startsWith(mark)) return value;
    const written = value.slice(mark.length);
    if (!Number.isSafeInteger(Number(written))) keep(this, key, written);
    return Number(written);
  });
}

function keep(holder: object, key: string, written: string): void {
  const known = digits.get(holder) ?? new Map<string, string>();
  digits.set(holder, known.set(key, written));
}

/** Gives a copy the digits of its original. Returns the copy. */
export function sameDigits<T extends object>(original: object, copy: T): T {
  const known = digits.get(original);
  if (known) digits.set(copy, known);
  return copy;
}

/** The digits of a number in an object or list of `parseJson`; undefined if the number is exact. */
export function exactText(holder: object, key: string | number): string | undefined {
  return digits.get(holder)?.get(String(key));
}

/** JSON text of a value, with all digits of its integers. */
export function exactJson(value: unknown, indent?: number): string {
  if (typeof value === "bigint") return String(value);
  const written: string[] = [];
  const mark = "\u{fdd0}";
  const text = JSON.stringify(
    value,
    function (this: object, key: string, each: unknown) {
      const exact = typeof each === "number" ? exactText(this, key) : undefined;
      return exact === undefined ? each : `${mark}${written.push(exact) - 1}`;
    },
    indent,
  );
  if (written.length === 0) return text;
  return text.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (whole, at: string) => written[Number(at)] ?? whole);
}

/** Copy of a value with other values for its large integers; the value itself if it has none. */
export function withExact(value: object, of: (text: string) => unknown): object {
  const isList = Array.isArray(value);
  const fields = Object.entries(value).map(([key, each]: [string, unknown]) => {
    const exact = exactText(value, key);
    if (exact !== undefined) return [key, of(exact)] as const;
    return [key, typeof each === "object" && each !== null ? withExact(each, of) : each] as const;
  });
  if (fields.every(([key, each]) => each === (value as Record<string, unknown>)[key])) return value;
  return isList ? fields.map(([, each]) => each) : Object.fromEntries(fields);
}
