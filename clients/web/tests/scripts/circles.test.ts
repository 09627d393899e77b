// The check of circles between the folders of the page (scripts/circles.mjs).
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { between, circleIn, circlesIn, importsIn } from "../../scripts/circles.mjs";

test("folders and files of the page form no circle", () => {
  expect(circlesIn(fileURLToPath(new URL("../../src", import.meta.url)))).toEqual([]);
});

test("a circle between folders is found, also where their files form none", () => {
  const files = new Map([
    ["app/a.ts", ["views/b.ts"]],
    ["views/b.ts", []],
    ["views/c.ts", ["app/d.ts"]],
    ["app/d.ts", []],
  ]);
  expect(circleIn(files)).toBeUndefined();
  expect(circleIn(between(files))).toEqual(["app", "views", "app"]);
  expect(circleIn(between(files, "app"))).toBeUndefined();
});

test("imports of types and lazy imports count", () => {
  const imports = importsIn(fileURLToPath(new URL("../../src", import.meta.url)));
  expect(imports.get("app/state/edits.ts")).toContain("app/state/notebook.ts");
  expect(imports.get("main.tsx")).toContain("views/account/SignIn.tsx");
});
