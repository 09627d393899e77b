import { defineConfig } from "@playwright/test";

// Debian's Chromium, which must be there (apt install chromium). Run `npx playwright test` after `make web` and `cargo build`.
const executablePath = process.env.NOTARIUM_CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: "e2e",
  // A machine that compiles meanwhile is slow; what is broken is not there after this either.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  workers: 1,
  snapshotPathTemplate: "{testDir}/looks/{arg}{ext}",
  reporter: "list",
  use: {
    // A page that a test serves itself (NOTARIUM_PAGE) is from nowhere for Chromium, and may not open a socket to this machine.
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
      ],
    },
    viewport: { width: 1280, height: 860 },
    trace: "retain-on-failure",
  },
});
