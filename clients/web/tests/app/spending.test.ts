import { describe, expect, test } from "vitest";
import { capWords, costWords, moneyWords, usedPart } from "../../src/app/words/spending.ts";
import type { CapStatus, ModelUsage } from "../../src/protocol/rest.ts";

const row = (more: Partial<ModelUsage>): ModelUsage => ({
  value: "2026-11-29",
  calls: 3,
  estimated_calls: 0,
  input_tokens: 10,
  cached_tokens: 0,
  output_tokens: 1,
  cost: [],
  unpriced_calls: 0,
  ...more,
});

const cap = (more: Partial<CapStatus>): CapStatus => ({
  spender: "each_person",
  person: "ann",
  period: "day",
  unit: "USD",
  amount: "5.00",
  by_owner: false,
  is_fixed: false,
  used: "4.2",
  reserved: "0.00",
  is_reached: false,
  ends_at: 0,
  ...more,
});

describe("usage of models in words", () => {
  test("money keeps the digits that matter", () => {
    expect(moneyWords("5.00", "USD")).toBe("5.00 USD");
    expect(moneyWords("1234.567890123", "USD")).toBe(`${new Intl.NumberFormat().format(1234)}.56 USD`);
    expect(moneyWords("0.000063", "USD")).toBe("0.000063 USD");
    expect(moneyWords("0.00", "USD")).toBe("0.00 USD");
  });

  test("a cost that is not known is never 0", () => {
    expect(costWords(row({ unpriced_calls: 3 }))).toBe("Price not known");
    const cost = [{ amount: "0.50", currency: "USD" }];
    expect(costWords(row({ cost }))).toBe("0.50 USD");
    expect(costWords(row({ cost, unpriced_calls: 1 }))).toBe("0.50 USD + 1 without a price");
  });

  test("a cap names its use and its period", () => {
    expect(capWords(cap({}), undefined)).toBe("You: 4.20 of 5.00 USD today");
    const lab = cap({
      spender: "workspace",
      person: null,
      workspace: "w",
      period: "month",
      unit: "tokens",
      amount: "2000000",
      used: "12",
    });
    expect(capWords(lab, "Lab")).toMatch(/^Lab: 12 of 2M tokens this month$/);
    expect(usedPart(cap({}))).toBeCloseTo(0.84);
    expect(usedPart(cap({ amount: "0.00" }))).toBe(1);
  });
});
