// Screens that need a kernel: reactive notebooks, queries, and the form of a function.
import { hasDuckDb, notebook, python, query } from "./cells.ts";
import { bringIn } from "./demo.ts";
import type { Page } from "@playwright/test";
import type { Scene } from "./scenes.ts";
import { KERNELS, expect, person, saved } from "./server.ts";

const text = (id: string, source: string) => ({ id, cell_type: "markdown", source, metadata: {} });
const cell = (page: Page, id: string) => page.locator(`#cell-${id}`);
const run = (page: Page, id: string) => cell(page, id).getByRole("button", { name: "Run", exact: true }).click();
const FIRST_RUN = { timeout: 60_000 };

const REACTIVE = notebook(
  text("title-cell", "# What a crossing costs\n\nChange the `rate`, and see what hangs on it."),
  python("rate-cell", "rate = 3"),
  python("total-cell", "total = rate * 2"),
  python("print-cell", 'print("The crossing costs", total)'),
  python("fails-cell", "fee = total / 0"),
  python("reads-cell", "print(fee)"),
  python("first-cell", 'port = "Harbour"'),
  python("second-cell", 'port = "Old Town"'),
  python("left-cell", "tide = wind + 1"),
  python("right-cell", "wind = tide - 1"),
  python("lost-cell", "print(captain)"),
);

/** Reactive notebook with stale, failed and cyclic cells. */
async function reactive(...[browser, server]: Parameters<Scene["open"]>): Promise<Page> {
  const page = await person(browser, server);
  await bringIn(page, REACTIVE, "What a crossing costs.ipynb");
  await saved(page);
  await page.locator(".kernel").click();
  await page.getByRole("radio", { name: "Lazy" }).click();
  await expect(page.getByRole("radio", { name: "Lazy" })).toBeChecked();
  await page.keyboard.press("Escape");
  await run(page, "print-cell");
  await expect(cell(page, "print-cell").locator(".outputs")).toContainText("6", FIRST_RUN);
  await run(page, "reads-cell");
  await expect(cell(page, "reads-cell")).toContainText("Skipped", FIRST_RUN);
  await cell(page, "rate-cell").locator(".source").click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("0");
  await page.keyboard.press("Escape");
  await expect(cell(page, "total-cell")).toContainText("Stale");
  await saved(page);
  return page;
}

const SQL = notebook(
  text("title-cell", "# Orders by town"),
  python(
    "frame-cell",
    [
      "import pandas as pd",
      'towns = pd.DataFrame({"town": ["Harbour", "Old Town", "Airport"], "open": [True, True, False]})',
      "least = 100",
    ].join("\n"),
  ),
  query(
    "orders-cell",
    [
      "-- > orders",
      "SELECT t.town, o.day, o.amount, o.note",
      "FROM {towns} t JOIN (VALUES",
      "    ('Harbour', DATE '2026-05-01', 120.50, NULL), ('Old Town', DATE '2026-05-02', 310.00, 'twice'),",
      "    ('Airport', DATE '2026-05-02', 99.90, NULL)) o(town, day, amount, note) USING (town)",
      "WHERE o.amount >= {least} -- bound, never as text",
      "ORDER BY o.amount DESC",
    ].join("\n"),
  ),
  query("wrong-cell", "SELECT town, sum(amount)\nFRM orders\nGROUP BY town"),
  query("nowhere-cell", "-- @wharehouse > stock\nSELECT * FROM stock"),
);

async function queries(...[browser, server]: Parameters<Scene["open"]>): Promise<Page> {
  const page = await person(browser, server);
  await bringIn(page, SQL, "Orders by town.ipynb");
  await saved(page);
  for (const id of ["frame-cell", "orders-cell", "wrong-cell"]) await run(page, id);
  await expect(cell(page, "orders-cell").getByRole("cell").first()).toHaveText("Old Town", FIRST_RUN);
  await expect(cell(page, "wrong-cell").locator(".failure")).toContainText("line 2", FIRST_RUN);
  await expect(cell(page, "nowhere-cell").getByText("Unknown connection")).toBeVisible();
  return page;
}

const FUNCTION = `import notarium
from dataclasses import dataclass
from datetime import date
from typing import Literal

@dataclass
class Place:
    quay: Literal["north", "south"]
    berth: int
    name: str = "Harbour"

@notarium.tool(risk="sensitive")
def book(ship: str, place: Place, arrives: date | None = None, crew: list[str] | None = None) -> str:
    """Books a berth.

    Args:
        ship: As it is registered.
        place: Where it lies.
        crew: Their names.
    """
    print("asking the harbour master")
    return f"{ship} lies at {place.berth}"
`;

async function form(...[browser, server]: Parameters<Scene["open"]>): Promise<Page> {
  const page = await person(browser, server);
  await bringIn(page, notebook(python("book-cell", FUNCTION)), "Berths.ipynb");
  await saved(page);
  await run(page, "book-cell");
  await expect(cell(page, "book-cell").locator(".count")).toHaveText(/\d/, FIRST_RUN);
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).fill("call a function");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Call a function" });
  await dialog.getByLabel("ship").fill("Marigold");
  await dialog.getByRole("button", { name: "Call book" }).click();
  await expect(dialog.getByText("Required.").first()).toBeVisible();
  return page;
}

export const scenesOfKernels: Scene[] = [
  { name: "reactive", open: reactive },
  {
    name: "dependencies",
    open: async (browser, server) => {
      const page = await reactive(browser, server);
      await page.keyboard.press("ArrowDown");
      await expect(cell(page, "total-cell")).toHaveClass(/current/);
      await page.keyboard.press("Control+Shift+o");
      const map = page.getByRole("region", { name: "Dependencies" });
      await expect(map.getByText("Stale").first()).toBeVisible();
      return page;
    },
  },
  ...(hasDuckDb(KERNELS)
    ? [
        { name: "sql", open: queries },
        {
          name: "sql-failed",
          open: queries,
          show: (page: Page) =>
            cell(page, "nowhere-cell").evaluate((node) => node.scrollIntoView({ block: "end", behavior: "instant" })),
        },
      ]
    : []),
  { name: "function", open: form },
];
