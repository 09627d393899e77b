// Python in the page: diagnostics, formatting and go to definition. A kernel is needed only for its black.
import { bringIn } from "./demo.ts";
import { notebook, python as code } from "./cells.ts";
import { expect, person, saved, test } from "./server.ts";

const source = async (server: { command: (...words: string[]) => Promise<string> }, url: string) =>
  server.command("show", /n\/([^/?]+)/.exec(url)?.[1] ?? "");

test("@smoke a misspelt name is marked, F12 leads to a definition, and formatting is one step", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(code("a", "total = 1"), code("b", "x=1"), code("c", "")), "python.ipynb");
  await page.locator(".cell").nth(2).click();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.type("print(  totl )");
  const mark = page.locator(".cm-lintRange-warning");
  await expect(mark).toHaveText("totl", { timeout: 60_000 });
  await expect(mark).toBeInViewport();
  await mark.hover();
  await expect(page.getByText("Undefined name totl")).toBeInViewport();

  // The corrected name is defined in the first cell.
  await page.keyboard.press("Home");
  for (let step = 0; step < 11; step++) await page.keyboard.press("ArrowRight");
  await page.keyboard.type("a");
  await expect(mark).toHaveCount(0);
  await page.keyboard.press("F12");
  await expect(page.locator(".cell").first()).toHaveClass(/editing/);
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await expect.poll(() => page.evaluate(() => getSelection()?.toString())).toBe("total");

  await page.locator(".cell").nth(2).locator(".source").click();
  await page.keyboard.press("Alt+Shift+f");
  await expect(page.locator(".editing .cm-content")).toHaveText("print(total)");
  await saved(page);
  expect(await source(server, page.url())).toContain("print(total)");
  await page.keyboard.press("Control+z");
  await expect(page.locator(".editing .cm-content")).toHaveText("print(  total )");
  await page.keyboard.press("Control+Shift+Z");
  await expect(page.locator(".editing .cm-content")).toHaveText("print(total)");
  await page.context().close();
});

test("all cells are formatted as one step, and a click with Ctrl leads to a function", async ({ browser, server }) => {
  const page = await person(browser, server);
  const cells = [code("a", "def area( w,h ):\n  return w*h"), code("b", "%matplotlib inline\nx=area( 1,2 );"), code("c", "print(")];
  await bringIn(page, notebook(...cells), "format.ipynb");
  await page.locator(".cell").first().focus();
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("tidy all");
  await page.keyboard.press("Enter");
  const sources = page.locator(".cell .source");
  await expect(sources.nth(0)).toHaveText("def area(w, h):\n    return w * h", { timeout: 60_000, useInnerText: true });
  await expect(sources.nth(1)).toHaveText("%matplotlib inline\nx = area(1, 2);", { useInnerText: true });
  await expect(sources.nth(2)).toHaveText("print(");
  await saved(page);
  const shown = await source(server, page.url());
  expect(shown).toContain("x = area(1, 2);");
  await page.locator(".cell").first().focus();
  await page.keyboard.press("z");
  await expect(sources.nth(0)).toHaveText("def area( w,h ):\n  return w*h", { useInnerText: true });
  await expect(sources.nth(1)).toHaveText("%matplotlib inline\nx=area( 1,2 );", { useInnerText: true });

  await page.locator(".cell").nth(1).locator(".source").click();
  const line = page.locator(".editing .cm-line").nth(1);
  const name = line.getByText("area", { exact: false }).first();
  await name.waitFor();
  const box = await line.evaluate((node) => {
    const text = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let each = text.nextNode(); each; each = text.nextNode()) {
      const at = each.textContent?.indexOf("area") ?? -1;
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(each, at + 1);
      range.setEnd(each, at + 2);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }
    throw new Error("no area in the line");
  });
  await expect(async () => {
    await page.keyboard.down("Control");
    await page.mouse.click(box.x, box.y);
    await page.keyboard.up("Control");
    await expect(page.locator(".cell").first()).toHaveClass(/editing/, { timeout: 1_000 });
  }).toPass();
  await expect.poll(() => page.evaluate(() => getSelection()?.toString())).toBe("area");
  await page.context().close();
});

test("a click with Ctrl on a name leads to its definition from a cell that nobody edits, and else opens the cell", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const above = Array.from({ length: 80 }, (_, at) => `line_${at} = ${at}`).join("\n");
  const cells = [code("a", `def area(w, h):\n    return w * h\n${above}`), code("b", "print(\n    area(1, 2)\n)")];
  await bringIn(page, notebook(...cells), "leads.ipynb");
  const [first, second] = [page.locator(".cell").nth(0), page.locator(".cell").nth(1)];
  const press = async (word: string) => {
    const name = await second.locator(".source.still").evaluate((text, part) => {
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent?.indexOf(part) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + part.length);
        const { x, y, width, height } = range.getBoundingClientRect();
        return { x: x + width / 2, y: y + height / 2 };
      }
      throw new Error(`no ${part}`);
    }, word);
    await page.keyboard.down("Control");
    await page.mouse.click(name.x, name.y);
    await page.keyboard.up("Control");
  };
  await second.scrollIntoViewIfNeeded();
  await press("area");
  await expect(first).toHaveClass(/editing/);
  await expect.poll(() => page.evaluate(() => getSelection()?.toString())).toBe("area");
  await expect(first.locator(".cm-line").first()).toBeInViewport();
  await page.keyboard.press("Escape");
  await second.scrollIntoViewIfNeeded();
  await press("print");
  await expect(second).toHaveClass(/editing/);
  await page.context().close();
});

test("black of the kernel formats where it is there, with the settings of the folder; ruff writes what it leaves", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const settings = "[tool.black]\\nskip-string-normalization = true\\n";
  const cells = [code("a", `open("pyproject.toml", "w").write("${settings}")`), code("b", "x={  'a':1 }"), code("c", "y=1\nx?")];
  await bringIn(page, notebook(...cells), "black.ipynb");
  await page.locator(".cell").first().getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".cell").first().locator(".count")).toHaveText("[1]", { timeout: 60_000 });
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("tidy all");
  await page.keyboard.press("Enter");
  const sources = page.locator(".cell .source");
  await expect(sources.nth(1)).toHaveText("x = {'a': 1}", { timeout: 60_000 });
  await expect(sources.nth(2)).toHaveText("y = 1\nx?", { useInnerText: true });
});
