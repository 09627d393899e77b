// Words for effects of code: what was refused, what a call asks for, what a kernel holds, and what a grant can cover.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  askedKinds,
  grantedKinds,
  isHeld,
  kernelEffectWords,
  kindWords,
  mayWords,
  otherReasons,
  refusedParts,
  toldRefusal,
} from "../../src/app/words/effectWords.ts";
import { wordsOf } from "../../src/app/words/steps.ts";
import type { EventMessage, RefusedEffect } from "../../src/protocol/messages.ts";

const source = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

test("a refusal names what was tried first, and how many followed", () => {
  const refused: RefusedEffect[] = [
    { kind: "write", target: "a_b.csv", count: 1 },
    { kind: "network", target: "db.example:5432", count: 4 },
    { kind: "moon_landing", target: "x", count: 2 },
  ];
  const words = refusedParts(refused).map(({ verb, target, more }) => `${verb} ${target}${more}`);
  expect(words).toEqual(["write a_b.csv", "connect to db.example:5432 and 3 more", "moon landing x and 1 more"]);
});

test("kinds are a sentence, unknown ones by their word", () => {
  expect(kindWords(["write"])).toBe("overwrite files");
  expect(kindWords(["write", "network"])).toBe("overwrite files and use the network");
  expect(kindWords(["create", "remove", "moon_landing"])).toBe(
    "create new files below the working folder, delete files and moon landing",
  );
  expect([mayWords("signal"), mayWords("database")]).toEqual(["May signal other processes", "May write to databases"]);
});

test("everything but a person’s runs is held", () => {
  const effects = ["free", { expected: { kinds: [] } }, { held: { allowed: [] } }, { bound: {} }, "bound"];
  expect(effects.map(isHeld)).toEqual([false, false, true, true, true]);
});

test("a kernel holds effects only if its agent says so; else the reason is told", () => {
  const not = (cause: string) => kernelEffectWords({ effects: { not_held: { cause } } });
  expect(kernelEffectWords({ effects: "held" })).toBe("Can’t change files or use the network here unless you allow it");
  expect(not("switched_off")).toBe("This machine can’t hold it, so each run asks: it is switched off (--kernel-effects off)");
  expect(not("other_kernel")).toContain("it isn’t possible with this kind of kernel");
  expect(not("new_moon")).toMatch(/: new moon$/);
  for (const recorded of [undefined, null, {}, { file_system: true }, { effects: "moon" }])
    expect(kernelEffectWords(recorded)).toContain("its runtime agent doesn’t say that it can");
});

test("a call asks for kinds only if it runs code", () => {
  const effects = ["write", "network", "write"];
  expect(askedKinds("execute_cell", { effects })).toEqual(["write", "network"]);
  expect(askedKinds("create_cells", { effects, run: true })).toEqual(["write", "network"]);
  expect(askedKinds("create_cells", { effects })).toEqual([]);
  expect(askedKinds("modify_cell", { effects })).toEqual([]);
  for (const given of [undefined, {}, { effects: null }, { effects: "network" }])
    expect(askedKinds("execute_cell", given)).toEqual([]);
});

test("reasons that only repeat a kind in the server’s words are left out", () => {
  const phrases = [...source("src/record/effects.rs").matchAll(/Effect::(\w+) => "([^"]* [^"]*)",/g)];
  expect(phrases).toHaveLength(7);
  for (const [, kind = "", phrase = ""] of phrases)
    expect(otherReasons([`it may ${phrase}`, "it patches a module"], [kind.toLowerCase()])).toEqual(["it patches a module"]);
  expect(otherReasons(["it may remove files"], ["write"])).toEqual(["it may remove files"]);
});

test("a grant covers what destroys nothing, and no call that also does", () => {
  expect(grantedKinds([])).toEqual([]);
  expect(grantedKinds(["network", "create", "open"])).toEqual(["network", "create", "open"]);
  for (const kind of ["write", "remove", "signal", "database", "moon_landing"])
    expect(grantedKinds(["network", kind])).toBeUndefined();
});

test("a result that tells of refusals is found by the server’s sentence", () => {
  const sentence = /"(Effects outside the kernel were refused[^"]*)"/.exec(source("src/core/assistants/call_effects.rs"))?.[1];
  expect(toldRefusal(`{"status":"ok","effects":"${sentence}"}`)).toBe(true);
  expect([toldRefusal('{"status":"ok"}'), toldRefusal(undefined)]).toEqual([false, false]);
});

test("history counts the runs that were refused something, not the refusals", () => {
  const refusal = (execution_id: string, kind: string, count: number) => {
    const payload = { execution_id, kind, target: "x", count };
    return { id: `${execution_id}${kind}${count}`, type: "ExecutionEffectRefused", payload };
  };
  const words = (...events: unknown[]) => wordsOf(events as EventMessage[]);
  expect(words(refusal("r", "write", 1), refusal("r", "network", 1), refusal("r", "write", 9))).toEqual([
    "refused effects of a run",
  ]);
  expect(words(refusal("r", "write", 1), refusal("s", "write", 1))).toEqual(["refused effects of 2 runs"]);
});
