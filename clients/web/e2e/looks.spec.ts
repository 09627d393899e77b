// How every screen looks, in light, dark and on a phone: pictures of half the size, kept in `looks/`. After a change that is
// meant: `make looks`, and look at what git says has changed.
import { existsSync } from "node:fs";
import type { Page } from "@playwright/test";
import { LOOKS } from "./looks.ts";
import { passwordScene, scenes, settled } from "./scenes.ts";
import { scenesOfKernels } from "./scenesOfKernels.ts";
import { TestServer, expect, test } from "./server.ts";

const KEPT = new URL("./looks/sign-in-light.png", import.meta.url).pathname;
test.skip(!existsSync(KEPT) && !process.env.NOTARIUM_LOOKS, "there are no pictures to compare with: make looks");

// Times are the browser's words for them; half of each pixel is enough to see what moved.
test.use({ deviceScaleFactor: 0.5, locale: "en-GB", timezoneId: "UTC", trace: "off" });

/** What is another each time: times, versions, secrets, names of this machine, and what libraries draw. */
const OTHER_EACH_TIME =
  "time, iframe, .took, .sql .foot > span:first-child, .turn-end, .scrub span, .steps .small, .made input, .access .small, .facts dd, .working";

async function shoot(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.mouse.move(2, 2);
  await expect(page).toHaveScreenshot(`${name}.png`, {
    animations: "disabled",
    caret: "hide",
    scale: "device",
    mask: [page.locator(OTHER_EACH_TIME)],
    maskColor: "#8d8d99",
    // Two machines draw the edges of letters differently; what moved or has another colour is more.
    maxDiffPixelRatio: 0.015,
    threshold: 0.25,
  });
}

for (const { name, open, show } of [...scenes, ...scenesOfKernels, passwordScene])
  test(`looks: ${name}`, async ({ browser }) => {
    // Of its own, so that no list has what another test left.
    const server = new TestServer();
    await server.start();
    const page = await open(browser, server);
    for (const look of LOOKS) {
      await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width: look.width, height: 760 });
      await show?.(page);
      await shoot(page, `${name}-${look.name}`);
    }
    await page.context().close();
    await server.end();
  });
