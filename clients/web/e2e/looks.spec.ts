// Every screen in light, dark and on a phone: its picture at half size in `looks/`, and axe. After an intended change:
// `make looks`, then check the changed files in git.
import { existsSync } from "node:fs";
import type { Page } from "@playwright/test";
import { complaints } from "./axe.ts";
import { LOOKS } from "./looks.ts";
import { passwordScene, scenes, settled } from "./scenes.ts";
import { scenesOfKernels } from "./scenesOfKernels.ts";
import { TestServer, expect, test } from "./server.ts";

const KEPT = new URL("./looks/sign-in-light.png", import.meta.url).pathname;
const HAS_PICTURES = existsSync(KEPT) || process.env.NOTARIUM_BLESS !== undefined;

// Fixed locale and time zone for times. Half the pixels show every layout change.
test.use({ deviceScaleFactor: 0.5, locale: "en-GB", timezoneId: "UTC", trace: "off" });

/** Selectors of variable content: times, versions, secrets, names of this machine, and drawings of libraries. */
const OTHER_EACH_TIME =
  "time, iframe, .sql .foot > span:first-child, .turn-end, .scrub span, .steps .small, .made input, .access .small, .facts dd, .working, .load";

async function shoot(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.mouse.move(2, 2);
  await expect(page).toHaveScreenshot(`${name}.png`, {
    timeout: 10_000,
    animations: "disabled",
    caret: "hide",
    scale: "device",
    mask: [page.locator(OTHER_EACH_TIME)],
    maskColor: "#8d8d99",
    // Machines anti-alias letters differently; changes of layout or colour exceed this.
    maxDiffPixelRatio: 0.015,
    threshold: 0.25,
  });
}

for (const { name, open, show } of [...scenes, ...scenesOfKernels, passwordScene])
  test(`looks: ${name}`, async ({ browser }) => {
    // Separate server, so that lists show nothing of other tests.
    const server = new TestServer();
    await server.start();
    const page = await open(browser, server);
    // The time of a slow run stands on a line of its own, so that the machine's speed would move what is below it.
    await page.evaluate(() => {
      const style = new CSSStyleSheet();
      style.replaceSync(".took { display: none; }");
      document.adoptedStyleSheets.push(style);
    });
    for (const look of LOOKS) {
      await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width: look.width, height: 760 });
      // A chart that gets its height late moves what is below it: it is shown again.
      await expect(async () => {
        await show?.(page);
        if (HAS_PICTURES) await shoot(page, `${name}-${look.name}`);
      }).toPass({ timeout: 60_000 });
      expect(await complaints(page), look.name).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    expect(await complaints(page), "a phone, dark").toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, "nothing sticks out of a phone").toBeLessThanOrEqual(0);
    await page.context().close();
    await server.end();
  });
