// ipywidgets with a real kernel: shared state, control by people who may run, and the last state after the kernel's end.
import type { Page } from "@playwright/test";
import { expect, fresh, person, test, write } from "./server.ts";

const run = async (page: Page, source: string, cell = 0) => {
  await write(page, source);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").nth(cell)).toHaveText(/\d/, { timeout: 60_000 });
};
const inside = (page: Page, nth = 0) => page.locator("iframe.frame").nth(nth).contentFrame();

test("a slider that is moved in one browser moves in the other, and its value in the kernel", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await run(
    page,
    "import ipywidgets as w\ns = w.IntSlider(value=3, max=9, description='Sail')\nl = w.Label('none')\ns.observe(lambda c: setattr(l, 'value', f'knots {c.new}'), 'value')\nw.VBox([s, l])",
  );
  const handle = inside(page).getByRole("slider");
  await expect(handle).toBeVisible({ timeout: 60_000 });

  const other = await person(browser, server);
  await other.goto(page.url());
  const theirs = inside(other).getByRole("slider");
  await expect(theirs).toBeVisible({ timeout: 60_000 });
  // A frame takes the focus from the editor only by a click.
  await handle.click();
  await handle.press("ArrowRight");
  await handle.press("ArrowRight");
  await expect(inside(page).getByText("knots 5")).toBeVisible({ timeout: 30_000 });
  await expect(inside(other).getByText("knots 5")).toBeVisible({ timeout: 30_000 });
  await expect(theirs).toHaveAttribute("aria-valuenow", "5.0");

  // A later visitor sees the current state and can change it.
  const late = await person(browser, server);
  await late.goto(page.url());
  await expect(inside(late).getByText("knots 5")).toBeVisible({ timeout: 60_000 });
  await inside(late).getByRole("slider").click();
  await inside(late).getByRole("slider").press("ArrowLeft");
  await expect(inside(page).getByText("knots 4")).toBeVisible({ timeout: 30_000 });
  await expect(handle).toHaveAttribute("aria-valuenow", "4.0");
});

test("what is captured, clicked and counted is drawn, who may not run looks on, and after the kernel's end the last state stays", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  const source = [
    "import ipywidgets as w",
    "from IPython.display import display",
    "from tqdm.notebook import tqdm",
    "o, b = w.Output(), w.Button(description='Hoist')",
    "def click(_):",
    "    with o: print('hoisted')",
    "b.on_click(click)",
    "for _ in tqdm(range(3), desc='knots'): pass",
    "tab = w.Accordion([w.SelectMultiple(options=['jib', 'main'])], titles=['Sails'], selected_index=0)",
    "w.VBox([b, o, tab, w.interactive(lambda n: print('n is', n), n=(0, 9)), w.HTML('<b>gale</b>')])",
  ];
  await run(page, source.join("\n"));
  const frame = inside(page, 1);
  await expect(inside(page).getByText("3/3")).toBeVisible({ timeout: 60_000 });
  await expect(frame.getByText("gale")).toBeVisible();
  await expect(frame.getByText("n is 4")).toBeVisible();
  await expect(frame.getByRole("listbox")).toBeVisible();
  await frame.getByRole("button", { name: "Hoist" }).click();
  await expect(frame.getByText("hoisted")).toBeVisible({ timeout: 30_000 });
  await frame.getByRole("slider").focus();
  await frame.getByRole("slider").press("ArrowRight");
  await expect(frame.getByText("n is 5")).toBeVisible({ timeout: 30_000 });
  await expect(frame.getByText("n is 4")).toHaveCount(0);

  const notebook = /n\/([^/]+)/.exec(page.url())?.[1] ?? "";
  const vera = await server.account("Vera Fields");
  await server.send("PUT", `/api/notebooks/${notebook}/access`, { subject: { kind: "user", id: vera.id }, role: "viewer" });
  const viewer = await (await fresh(browser)).newPage();
  await viewer.goto(`${server.url}/#token=${vera.token}&notebook=${notebook}`);
  await expect(viewer.getByText("You can view this widget").first()).toBeVisible({ timeout: 60_000 });
  await expect(inside(viewer, 1).getByText("hoisted")).toBeVisible({ timeout: 60_000 });
  await inside(viewer, 1)
    .getByRole("button", { name: "Hoist" })
    .click({ force: true, timeout: 5_000 })
    .catch(() => undefined);
  // The page forwards no message of a frame for people who may not run.
  await viewer
    .frames()
    .at(-1)
    ?.evaluate(() => parent.postMessage({ comm: { id: 1, comm_id: "x", data: { method: "custom" }, buffers: [] } }, "*"));

  const state = (await (await server.send("GET", `/api/notebooks/${notebook}`)).json()) as {
    kernels: { kernel_session: string }[];
  };
  const kernel = state.kernels[0]?.kernel_session;
  await server.send("DELETE", `/api/notebooks/${notebook}/kernels/${kernel}`);
  await expect(page.getByText("This is what the widget showed last").first()).toBeVisible({ timeout: 60_000 });
  await expect(inside(page, 1).getByText("n is 5")).toBeVisible({ timeout: 60_000 });
  await expect(inside(page, 1).getByText("hoisted")).toHaveText("hoisted");
  const file = await (await server.send("GET", `/api/notebooks/${notebook}/export`)).text();
  expect(file).toContain("application/vnd.jupyter.widget-state+json");
});

test("a widget that brings its own module lives in the frame, and loads nothing else; icons are drawn", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const elsewhere: string[] = [];
  page.on("requestfinished", (request) => !/^(data|blob):/.test(request.url()) && elsewhere.push(request.url()));
  page.on("requestfailed", (request) => elsewhere.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.getByRole("button", { name: "New notebook" }).click();
  // Same messages as anywidget's Python, without the package.
  const source = [
    "import ipywidgets as w, traitlets as t",
    "class Counter(w.DOMWidget):",
    "    _model_name = t.Unicode('AnyModel').tag(sync=True); _view_name = t.Unicode('AnyView').tag(sync=True)",
    "    _model_module = t.Unicode('anywidget').tag(sync=True); _view_module = t.Unicode('anywidget').tag(sync=True)",
    "    _model_module_version = t.Unicode('0.9').tag(sync=True); _view_module_version = t.Unicode('0.9').tag(sync=True)",
    "    _css = t.Unicode('.count { color: rgb(1, 2, 3) }').tag(sync=True)",
    "    value = t.Int(0).tag(sync=True)",
    '    _esm = t.Unicode("""',
    "      export default () => ({",
    "        initialize({ model }) { model.on('msg:custom', (said) => model.set('heard', said)) },",
    "        render({ model, el }) {",
    "          const button = Object.assign(document.createElement('button'), { className: 'count' })",
    "          const draw = () => (button.textContent = `count ${model.get('value')}`)",
    "          button.onclick = () => { model.set('value', model.get('value') + 1); model.save_changes() }",
    "          model.on('change:value', draw)",
    "          draw(); el.append(button)",
    "        },",
    "      })",
    '    """).tag(sync=True)',
    "c, l = Counter(), w.Label('none')",
    "c.observe(lambda change: setattr(l, 'value', f'kernel {change.new}'), 'value')",
    "w.VBox([c, l, w.Button(icon='anchor', description='Cast')])",
  ];
  await run(page, source.join("\n"));
  const button = inside(page).getByRole("button", { name: "count 0" });
  await expect(button).toBeVisible({ timeout: 60_000 });
  await expect(button).toHaveCSS("color", "rgb(1, 2, 3)");
  const icon = inside(page).locator("i.fa-anchor");
  expect(await icon.evaluate((node) => getComputedStyle(node, "::before").content.length)).toBeGreaterThan(2);
  await expect.poll(() => icon.evaluate(() => document.fonts.check('900 14px "Font Awesome 7 Free"'))).toBe(true);

  const other = await person(browser, server);
  await other.goto(page.url());
  await expect(inside(other).getByRole("button", { name: "count 0" })).toBeVisible({ timeout: 60_000 });
  await button.click();
  await expect(inside(page).getByText("kernel 1")).toBeVisible({ timeout: 30_000 });
  await expect(inside(other).getByRole("button", { name: "count 1" })).toBeVisible({ timeout: 30_000 });

  // Another source is another widget; one that imports from another host shows an error.
  await page.locator(".cell .source").nth(1).click();
  await page.locator(".cell").nth(1).locator(".cm-focused").waitFor();
  await run(page, "c._esm = \"import x from 'https://cdn.example/x.js'; export default { render() {} }\"", 1);
  await expect(inside(page).getByText("This widget could not be drawn")).toBeVisible({ timeout: 30_000 });
  // The frame's policy blocks the request in the browser.
  expect(elsewhere.filter((each) => !each.startsWith(server.url))).toEqual(["https://cdn.example/x.js: csp"]);
});
