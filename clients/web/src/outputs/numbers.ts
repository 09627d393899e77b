// Numbers as texts, compared exactly: identifiers and amounts beyond 2^53 differ in digits that a double drops.

/** Value of a text, rounded to a double; undefined if the text is no number. */
export function numberOf(text: string): number | undefined {
  const plain = bare(text);
  if (/^[+-]?inf$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  const value = plain === "" ? NaN : Number(plain);
  return Number.isNaN(value) ? undefined : value;
}

const bare = (text: string) => text.replace(/[\s_,$€£%]/g, "");

/** A double holds this many digits of any decimal. */
const SAFE_DIGITS = 15;

/** Orders two numbers by all their digits. A text that is no number counts as 0. */
export function compareNumbers(left: string, right: string): number {
  const [first, second] = [numberOf(left) ?? 0, numberOf(right) ?? 0];
  const areShort = left.length <= SAFE_DIGITS && right.length <= SAFE_DIGITS;
  if (areShort || !Number.isFinite(first) || !Number.isFinite(second)) return order(first, second);
  const [one, other] = [decimalOf(left, first), decimalOf(right, second)];
  const scale = Math.max(one.scale, other.scale);
  return order(one.digits * 10n ** BigInt(scale - one.scale), other.digits * 10n ** BigInt(scale - other.scale));
}

const order = <T extends number | bigint>(left: T, right: T) => (left === right ? 0 : left < right ? -1 : 1);

interface Decimal {
  digits: bigint;
  /** Number of the digits behind the point. */
  scale: number;
}

/** Exponents beyond those of a double would make numbers with thousands of digits. */
const MOST_EXPONENT = 400;

function decimalOf(text: string, value: number): Decimal {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/i.exec(bare(text)) ?? [];
  if (whole + fraction === "" || Math.abs(Number(exponent)) > MOST_EXPONENT) return { digits: BigInt(Math.trunc(value)), scale: 0 };
  const digits = BigInt(sign + whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}
