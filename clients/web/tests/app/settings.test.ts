import { expect, test } from "vitest";
import { DEFAULTS, settingsFrom } from "../../src/app/session/settings.ts";

test("what was kept stands, as far as it makes sense", () => {
  expect(settingsFrom(null)).toEqual(DEFAULTS);
  expect(settingsFrom("no JSON")).toEqual(DEFAULTS);
  expect(settingsFrom("null")).toEqual(DEFAULTS);
  expect(settingsFrom('{"vim":true,"indent":"2","fontSize":18,"wrap":"yes"}')).toEqual({
    ...DEFAULTS,
    vim: true,
    indent: "2",
    fontSize: 18,
  });
  expect(settingsFrom('{"fontSize":400,"indent":"3"}')).toEqual(DEFAULTS);
});
