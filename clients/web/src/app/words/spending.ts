// Words for usage of models and for caps.
import type { CapStatus, ModelUsage } from "../../protocol/rest.ts";

const number = new Intl.NumberFormat();
/** Sign before the decimal places in this browser's language. */
const point = number.formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? ".";

/** A decimal text with the digits that a person reads: two decimal places, or two digits of a smaller amount. */
export function moneyWords(amount: string, currency: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const places = whole === "0" && zeros >= 2 && zeros < fraction.length ? zeros + 2 : 2;
  return `${number.format(BigInt(whole))}${point}${fraction.padEnd(places, "0").slice(0, places)} ${currency}`;
}

/** Cost of a row. Calls without a price are named, never shown as 0. */
export function costWords({ cost, calls, unpriced_calls: unpriced }: ModelUsage): string {
  const known = cost.map(({ amount, currency }) => moneyWords(amount, currency));
  if (unpriced > 0) known.push(unpriced === calls ? "Price not known" : `${number.format(unpriced)} without a price`);
  return known.join(" + ");
}

/** Tokens in short form, such as 1.2 M. */
export function tokenWords(tokens: number): string {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(tokens);
}

function amountWords(amount: string, unit: string): string {
  return unit === "tokens" ? `${tokenWords(Number(amount))} tokens` : moneyWords(amount, unit);
}

const SPENDERS: Record<CapStatus["spender"], string> = {
  server: "This server",
  person: "You",
  each_person: "You",
  workspace: "Workspace",
  each_workspace: "Workspace",
};

/** Example: “You: 4.20 of 5.00 USD today”. */
export function capWords(cap: CapStatus, workspace: string | undefined): string {
  const { spender, amount, used, unit, period } = cap;
  const who = cap.workspace ? (workspace ?? SPENDERS[spender]) : SPENDERS[spender];
  const spent = used == null ? "" : `${amountWords(used, unit).replace(/ \w+$/, "")} of `;
  return `${who}: ${spent}${amountWords(amount, unit)} ${period === "day" ? "today" : "this month"}`;
}

/** Used part of a cap, 0 to 1. */
export function usedPart({ amount, used }: CapStatus): number {
  const cap = Number(amount);
  return cap === 0 ? 1 : Math.min(1, Number(used ?? 0) / cap);
}
