import { expect, test } from "vitest";
import { versionAt } from "../../src/app/files/records.ts";

test("the version of a time is the last one recorded until then", async () => {
  const times = [10, 20, 20, 30, 50];
  let asked = 0;
  const at = (time: number) =>
    versionAt(time, times.length, (after) => {
      asked += 1;
      return Promise.resolve(times[after] === undefined ? undefined : { recorded_at: times[after] });
    });
  expect([await at(9), await at(10), await at(20), await at(29), await at(50), await at(99)]).toEqual([0, 1, 3, 3, 5, 5]);
  expect(asked).toBeLessThanOrEqual(6 * 3);
});
