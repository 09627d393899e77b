// Words for caps on spending.
import { moneyWords, tokenWords } from "../../app/words/spending.ts";
import type { CapStatus } from "../../protocol/rest.ts";
import type { NameOf } from "./people.ts";
import { workspaceName } from "./workspaces.ts";

/** Kinds of spenders, as choices. */
export const SPENDERS: Record<CapStatus["spender"], string> = {
  server: "Everyone together",
  each_person: "Each person",
  person: "One person",
  each_workspace: "Each workspace",
  workspace: "One workspace",
};

export const PERIODS: Record<CapStatus["period"], string> = { day: "a day", month: "a month" };

export function spenderWords(
  { spender, person, workspace }: Pick<CapStatus, "spender" | "person" | "workspace">,
  nameOf: NameOf,
  workspaces: ReadonlyMap<string, string>,
): string {
  if (spender === "person" && person) return nameOf(person) ?? "…";
  if (spender === "workspace" && workspace) return workspaceName(workspaces, workspace);
  return SPENDERS[spender];
}

/** Example: “5.00 USD”, “50M tokens”. */
export function amountWords(amount: string, unit: string): string {
  return unit === "tokens" ? `${tokenWords(Number(amount))} tokens` : moneyWords(amount, unit);
}

/** Origin of a cap that an administrator cannot remove here; undefined for other caps. */
export function fixedWords({ is_fixed, by_owner }: Pick<CapStatus, "is_fixed" | "by_owner">): string | undefined {
  if (is_fixed) return "Option of the server";
  return by_owner ? "Set by a workspace owner" : undefined;
}

/** A number grouped by commas or points, with decimal places after the other sign. */
const GROUPED = [/^([1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d+))?$/, /^([1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d+))?$/];
const PLAIN = /^(\d+)(?:[.,](\d+))?$/;
/** A number that is thousands in one language and has decimal places in another. */
const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Example: “50,000.5” and “50.000,5” become “50000.5”. Undefined if it is no amount of the unit, or if it means 2500 in one language and 2.5
 * in another, as “2,500” does.
 */
export function amountOf(text: string, unit: string): string | undefined {
  const signs = text.trim().replace(/[\s’'](?=\d{3}(?:\D|$))/g, "");
  const isWhole = unit === "tokens";
  if (!isWhole && AMBIGUOUS.test(signs)) return undefined;
  const [, digits = "", decimals] = GROUPED.map((form) => form.exec(signs)).find((found) => found) ?? PLAIN.exec(signs) ?? [];
  const plain = digits.replace(/[.,]/g, "") + (decimals === undefined ? "" : `.${decimals}`);
  const form = isWhole ? /^\d{1,18}$/ : /^\d{1,12}(?:\.\d{1,9})?$/;
  return form.test(plain) ? plain : undefined;
}

/** Name of a cap for a key or a request to remove it. */
export function capName({ spender, person, workspace, period, unit }: CapStatus) {
  return {
    spender,
    ...(spender === "person" && { person }),
    ...(spender === "workspace" && { workspace }),
    period,
    unit,
  };
}
