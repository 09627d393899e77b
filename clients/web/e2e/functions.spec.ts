// Registered functions: a form from the schema, results, destructive functions, and progress of runs.
import { ask } from "./scenes.ts";
import { expect, person, test, write } from "./server.ts";

const DEFINES = `import notarium
from dataclasses import dataclass
from typing import Literal

@dataclass
class Place:
    mast: int
    name: str = "bow"

@notarium.tool(risk="read")
def hoist(knots: int, sail: Literal["jib", "main"] = "main", crew: list[str] | None = None, at: Place | None = None) -> str:
    """Hoists a sail.

    Args:
        knots: How hard it blows.
    """
    print("heave")
    if knots == 50:
        raise ValueError("too much")
    return f"{sail} at {knots}, {crew}, {at}"
`;

const WAITS = `import notarium, time

@notarium.tool(risk="read")
def wait(seconds: int = 600) -> str:
    "Waits."
    print("under way", flush=True)
    time.sleep(seconds)
    return "waited"
`;

const SINKS = `import notarium, time

@notarium.tool
def sink(deep: float = 1.5) -> None:
    "Sinks it."
    print("sunk", deep)
`;

const BAILS = `for n in notarium.progress(range(50), label="bailing"):
    time.sleep(0.15 if n < 4 else 100)
`;

test("a function is called by its form, and what is wrong stands at its field", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, DEFINES);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").first()).toHaveText(/\d/, { timeout: 60_000 });
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("call a function");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Call a function" });
  await expect(dialog.getByText("Hoists a sail.")).toBeVisible({ timeout: 30_000 });
  await expect(dialog.getByText("How hard it blows.")).toBeVisible();

  await dialog.getByRole("button", { name: "Call hoist" }).click();
  await expect(dialog.getByText("Required.")).toBeVisible();
  await expect(dialog.getByLabel("knots")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog.getByLabel("knots")).toBeFocused();
  await dialog.getByLabel("knots").fill("a gale");
  await dialog.getByRole("button", { name: "Call hoist" }).click();
  await expect(dialog.getByText("Must be a whole number.")).toBeVisible();

  await dialog.getByLabel("knots").fill("7");
  await dialog.getByLabel("sail").selectOption("jib");
  await dialog.getByLabel("crew").fill('["Ann"]');
  await dialog.getByRole("button", { name: "Call hoist" }).click();
  const result = dialog.getByRole("region", { name: "Result" });
  await expect(result.getByText("heave")).toBeVisible({ timeout: 60_000 });
  await expect(result.getByText("jib at 7, ['Ann'], None")).toBeVisible();

  // Objects have nested fields, and errors appear at the field.
  const place = dialog.getByRole("group", { name: "at" });
  await place.getByLabel("name").fill("stern");
  await dialog.getByRole("button", { name: "Call hoist" }).click();
  await expect(place.getByLabel("mast")).toBeFocused();
  await expect(place.getByText("Required.")).toBeVisible();
  await place.getByLabel("mast").fill("2");
  await dialog.getByRole("button", { name: "Call hoist" }).click();
  await expect(result.getByText("Place(mast=2, name='stern')")).toBeVisible({ timeout: 60_000 });

  // Exceptions appear with their position and are scrolled into view below a long form.
  await page.setViewportSize({ width: 390, height: 560 });
  await dialog.getByLabel("knots").fill("50");
  await dialog.getByRole("button", { name: "Call hoist" }).click();
  await expect(result.locator(".failure")).toContainText("ValueError: too much", { timeout: 60_000 });
  await expect(result.locator(".failure")).toBeInViewport();
  await expect(dialog.getByRole("button", { name: "Call hoist" })).toBeInViewport();
  await result.getByText("Traceback").click();
  await expect(result.locator(".trace").first()).toBeVisible();
});

test("a call that takes long is stopped from its form, and the next one runs", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, WAITS);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").first()).toHaveText(/\d/, { timeout: 60_000 });
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("call a function");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Call a function" });
  await dialog.getByRole("button", { name: "Call wait" }).click();
  const result = dialog.getByRole("region", { name: "Result" });
  await expect(result.getByText("under way")).toBeVisible({ timeout: 60_000 });
  await result.getByRole("button", { name: "Stop" }).click();
  await expect(result).toContainText("Cancelled", { timeout: 30_000 });
  await expect(result.getByRole("button", { name: "Stop" })).toHaveCount(0);
  // Earlier output remains, and stopping is not shown as a failure.
  await expect(result.getByText("under way", { exact: true })).toBeVisible();
  await expect(result.locator(".failure:not(.stopped)")).toHaveCount(0);

  await dialog.getByLabel("seconds").fill("0");
  await dialog.getByRole("button", { name: "Call wait" }).click();
  await expect(result.getByText("waited")).toBeVisible({ timeout: 60_000 });
});

test("what destroys is called when somebody says that it is meant, and a loop says how far it is", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, SINKS);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").first()).toHaveText(/\d/, { timeout: 60_000 });
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("call a function");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Call a function" });
  const call = dialog.getByRole("button", { name: "Call sink" });
  await expect(call).toBeDisabled();
  await dialog.getByRole("checkbox").check();
  await call.click();
  await expect(dialog.getByText("sunk 1.5")).toBeVisible({ timeout: 60_000 });
  await dialog.getByRole("button", { name: "Done" }).click();

  await page.locator(".cell .source").nth(1).click();
  await write(page, BAILS);
  await page.keyboard.press("Shift+Enter");
  const bar = page.getByRole("progressbar", { name: "bailing" });
  await expect(bar).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText("4 of 50")).toBeVisible();
  const other = await person(browser, server);
  await other.goto(page.url());
  await expect(other.getByText("4 of 50")).toBeVisible({ timeout: 60_000 });
  await page.locator(".cell").nth(1).getByRole("button", { name: "Stop" }).click();
  await expect(bar).toHaveCount(0, { timeout: 60_000 });
});

test("an assistant's call says whose tool it would be: the notebook's kernel, or the server's own", async ({ browser, server }) => {
  server.model.script = ({ results }) =>
    results.length === 0
      ? { calls: [{ name: "get_notebook_state", arguments: {} }] }
      : results.length === 1
        ? { calls: [{ name: "sink", arguments: { deep: 2 } }] }
        : { text: "It lies on the ground." };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, SINKS);
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell .count").first()).toHaveText(/\d/, { timeout: 60_000 });
  await ask(page, "sink it");
  const card = page.locator(".confirmation");
  await expect(card).toContainText("this notebook’s kernel, python3 · requested", { timeout: 30_000 });
  // The arguments stand in the head, without a click.
  await expect(card.locator(".arguments")).toHaveText("deep2");
  await expect(card.locator(".arguments")).toBeInViewport();
  await expect(card).not.toContainText("version");
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(page.locator(".transcript")).toContainText("It lies on the ground.", { timeout: 60_000 });
  await expect(page.locator(".call").filter({ hasText: "Sink" })).toContainText("this notebook’s kernel");
  await expect(page.locator(".call").filter({ hasText: "Read the notebook" })).not.toContainText("kernel");
});
