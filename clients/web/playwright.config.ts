import { defineConfig } from "@playwright/test";

// Debian's Chromium must be installed (apt install chromium). Run `npx playwright test` after `make web` and `cargo build`.
const executablePath = process.env.NOTARIUM_CHROMIUM ?? "/usr/bin/chromium";

/** Factor of all timeouts, for busy machines. */
const patience = Number(process.env.NOTARIUM_PATIENCE ?? 1);

export default defineConfig({
  testDir: "e2e",
  timeout: 180_000 * patience,
  expect: { timeout: 20_000 * patience },
  workers: 1,
  updateSnapshots: process.env.NOTARIUM_BLESS ? "changed" : "missing",
  snapshotPathTemplate: "{testDir}/looks/{arg}{ext}",
  reporter: "list",
  use: {
    // A page served by the test (NOTARIUM_PAGE) has no network address for Chromium, which would block sockets to this machine.
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
      ],
    },
    viewport: { width: 1280, height: 860 },
    // Recording each test takes an eighth of the time.
    trace: "on-first-retry",
  },
});
