import { describe, expect, it } from "vitest";
import { cronOf, isTrouble, outcomeWords, timesOf, timesWords, untilWords } from "../../src/app/words/scheduleWords.ts";

describe("times of a schedule", () => {
  it.each([
    ["0 6 * * *", "daily", "Every day at 06:00 (UTC)"],
    ["30 17 * * 1-5", "workdays", "Every weekday at 17:30 (UTC)"],
    ["5 9 * * 0", "weekly", "Every Sunday at 09:05 (UTC)"],
    ["0 0 1 * *", "monthly", "On the first of each month at 00:00 (UTC)"],
    ["*/15 8-18 * * mon", "custom", "*/15 8-18 * * mon (UTC)"],
    ["0 0 1 * 1", "custom", "0 0 1 * 1 (UTC)"],
  ])("%s is %s", (cron, rhythm, words) => {
    expect(timesOf(cron).rhythm).toBe(rhythm);
    expect(timesWords(cron, "UTC")).toBe(words);
    expect(cronOf(timesOf(cron))).toBe(cron);
  });

  it("keeps the line when the choice becomes custom", () => {
    const times = { ...timesOf("0 6 * * *"), time: "07:45" };
    const cron = cronOf(times);
    expect(cronOf({ ...times, rhythm: "custom", cron })).toBe("45 7 * * *");
  });
});

describe("words about runs", () => {
  it("names the error, the detail and the number of missed runs", () => {
    expect(outcomeWords({ outcome: "failed", error: "ValueError", detail: "no rows" })).toBe("Failed: ValueError: no rows");
    expect(outcomeWords({ outcome: "missed", missed: 13 })).toBe("Missed 13 times");
    expect(outcomeWords({ outcome: "succeeded" })).toBe("Succeeded");
    expect(outcomeWords({ outcome: "from_the_future" as never })).toBe("from the future");
  });

  it("calls all but a success and a cancellation trouble", () => {
    expect(["succeeded", "cancelled", "failed", "missed", "refused"].map(isTrouble)).toEqual([false, false, true, true, true]);
  });

  it("says when the next run is", () => {
    expect(untilWords(30_000, 29_000)).toBe("in less than a minute");
    expect(untilWords(30 * 60_000, 0)).toBe("in 30 min");
    expect(untilWords(5 * 3_600_000, 0)).toBe("in 5 h");
  });
});
