import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { expect, person, saved, test } from "./server.ts";
test("look at tables", async ({ browser, server }) => {
  test.setTimeout(400_000);
  const page = await person(browser, server);
  const make = `import pandas as pd, numpy as np
rng = np.random.default_rng(1)
df = pd.DataFrame({"city": rng.choice(["Harbour", "Old Town", "Airport"], 5000), "price": rng.random(5000) * 1000, "n": range(5000), "when": pd.date_range("2026-01-01", periods=5000, freq="h", tz="Europe/Berlin"), "maybe": [None if i % 3 else i for i in range(5000)]})
df`;
  await bringIn(page, notebook(python("big", make), python("one", "df['n'].head(30)"), python("html", "from IPython.display import HTML\nHTML('<table class=\"dataframe\"><thead><tr><th></th><th>a</th></tr></thead><tbody><tr><th>0</th><td>1</td></tr></tbody></table>')")), "Look.ipynb");
  await saved(page);
  for (const id of ["big", "one", "html"]) await page.locator(`#cell-${id}`).getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".printed")).toBeVisible({ timeout: 90_000 });
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search commands" }).waitFor();
  await page.keyboard.type("show or hide variables");
  await page.keyboard.press("Enter");
  await expect(page.locator(".panel.variables li")).not.toHaveCount(0);
  await page.getByRole("button", { name: /^price float64/ }).click();
  await page.locator(".sheet thead th").nth(2).hover();
  await page.getByRole("button", { name: "Column “price”" }).click();
  await page.getByRole("menuitem", { name: "Statistics" }).click();
  await expect(page.locator(".statistics dl")).toBeVisible();
  for (const scheme of ["light", "dark"] as const)
    for (const width of [1440, 1024, 390]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 1000 });
      await page.locator("#cell-big").scrollIntoViewIfNeeded();
      await page.screenshot({ path: `/tmp/tables/look-${scheme}-${width}.png` });
    }
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.getByRole("button", { name: "Open df as a table" }).click();
  await expect(page.locator(".variable-table tbody tr")).toHaveCount(10);
  await page.screenshot({ path: "/tmp/tables/look-dialog.png" });
});
