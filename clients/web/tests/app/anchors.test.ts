import { expect, test } from "vitest";
import { slug, targetOf } from "../../src/app/cells/headings.ts";
import { routeOf } from "../../src/app/session/route.ts";
import type { Cell } from "../../src/protocol/messages.ts";

const text = (source: string) => ({ cell_type: "markdown", source }) as Cell;
const cells = new Map([
  ["a", text("# The data, cleaned\n\n[on](#2.-What-it-says)")],
  ["b", text('text <a id="fig-1"></a>\n\n## 2. What it says')],
  ["c", { cell_type: "code", source: 'html = "<a id=fig-1>"' } as Cell],
]);
const order = ["c", "a", "b"];

test("a link leads to its heading, written as Jupyter or as GitHub does, or to the text with that id", () => {
  expect(targetOf("#The-data,-cleaned", order, cells)).toMatchObject({ cell: "a" });
  expect(targetOf("#the-data-cleaned", order, cells)).toMatchObject({ cell: "a" });
  expect(targetOf("#2.-What-it-says", order, cells)).toMatchObject({ cell: "b", heading: { level: 2 } });
  expect(targetOf("#2%2E-What-it-says", order, cells)).toMatchObject({ cell: "b" });
  expect(targetOf("#fig-1", order, cells)).toEqual({ cell: "b" });
});

test("what is not there leads nowhere, and is no pattern", () => {
  for (const href of ["#", "#nowhere", "#%", "#(.*)"]) expect(targetOf(href, order, cells)).toBeUndefined();
  expect(slug("Überblick: 2 Teile!")).toBe("überblick-2-teile");
});

test("a version has an address", () => {
  expect(routeOf("#/n/N?at=42")).toEqual({ name: "notebook", id: "N", cell: undefined, at: 42 });
  expect(routeOf("#/n/N?at=-1")).toEqual({ name: "notebook", id: "N", cell: undefined });
});
