// Runtime agent on another machine: notices when it dies, with the possible actions, and kernels that do not start.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bringIn } from "./demo.ts";
import { BINARY, KERNELS, type TestServer, expect, person, saved, test, write } from "./server.ts";

const BROKEN = "import sys; sys.exit('Traceback:\\nno module named sails')";

/** Starts a runtime agent whose kernel names no other agent offers. */
async function agent(server: TestServer, folder: string): Promise<ChildProcess> {
  const python = KERNELS ? join(KERNELS, "bin/python") : "python3";
  const offers = (name: string, display_name: string, options: string[]) => {
    const spec = join(folder, "share/jupyter/kernels", name);
    mkdirSync(spec, { recursive: true });
    const argv = [python, ...options, "{connection_file}"];
    writeFileSync(join(spec, "kernel.json"), JSON.stringify({ argv, display_name, language: "python" }));
  };
  offers("far", "Far away", ["-m", "ipykernel_launcher", "-f"]);
  offers("broken", "Broken", ["-c", BROKEN]);
  const token = join(folder, "token");
  writeFileSync(token, await server.command("agent-token", "new", "--all", "--name", "Far"));
  const options = ["agent", "--server", server.url, "--token-file", token, "--kernel-path", folder];
  return spawn(BINARY, options, { cwd: folder, env: { ...process.env, HOME: folder }, stdio: "ignore" });
}

test("an agent that dies shows within seconds, and what its kernel ran can be given up", async ({ browser, server }) => {
  const folder = mkdtempSync(join(tmpdir(), "notarium-agent-"));
  const far = await agent(server, folder);
  try {
    const page = await person(browser, server);
    await page.getByRole("button", { name: "New notebook" }).click();
    await expect(page.locator(".cell")).toHaveCount(1);
    const notebook = /n\/([^/]+)/.exec(page.url())?.[1] ?? "";
    await server.command("kernels", "launch", notebook, "--kernelspec", "far");
    await expect(page.getByRole("button", { name: /\(far\): idle/ })).toBeVisible({ timeout: 60_000 });
    await write(page, "import time\nprint('begun', flush=True)\ntime.sleep(600)");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("begun", { exact: true })).toBeVisible({ timeout: 60_000 });

    const killed = Date.now();
    far.kill("SIGKILL");
    const notice = page.getByText(/Kernel unreachable since/);
    await expect(notice).toBeVisible();
    expect(Date.now() - killed, "told within five seconds").toBeLessThan(5_000);
    await expect(page.locator(".cell").first()).toContainText("The kernel is unreachable");
    await expect(page.getByRole("button", { name: /\(far\): unreachable/ })).toBeVisible();

    await page
      .getByRole("button", { name: /give up/i })
      .first()
      .click();
    await expect(notice).toBeHidden();
    await expect(page.locator(".cell").first()).toContainText(/Kernel died/);
  } finally {
    far.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});

test("a kernel that does not start says why, with what it wrote", async ({ browser, server }) => {
  const folder = mkdtempSync(join(tmpdir(), "notarium-agent-"));
  const far = await agent(server, folder);
  try {
    const page = await person(browser, server);
    const ran = { outputs: [], execution_count: null };
    const cell = { id: "run-cell", cell_type: "code", source: "1 + 1", metadata: {}, ...ran };
    const metadata = { kernelspec: { name: "broken", display_name: "Broken", language: "python" } };
    await bringIn(page, { nbformat: 4, nbformat_minor: 5, cells: [cell], metadata }, "Broken.ipynb");
    await saved(page);
    await page.locator("#cell-run-cell").getByRole("button", { name: "Run", exact: true }).click();
    const run = page.locator("#cell-run-cell");
    const state = run.locator(".state");
    await expect(state).toContainText("exit code 1 before it answered", { timeout: 60_000 });
    await expect(state).not.toContainText("sails");
    await expect(run.getByText("no module named sails")).toBeHidden();
    await run.getByText("Kernel log").click();
    await expect(run.getByText("no module named sails")).toBeVisible();

    await page.locator(".kernel").click();
    const panel = page.locator(".kernel-panel");
    await panel.getByText("Kernel log").click();
    await expect(panel.getByText("no module named sails")).toBeVisible();
  } finally {
    far.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});
