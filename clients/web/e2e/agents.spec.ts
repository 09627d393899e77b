// A runtime agent on another machine that dies: who looks at the notebook is told at once, and what can be done.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, KERNELS, type TestServer, expect, person, test, write } from "./server.ts";

/** Its kernels have a name that no other agent offers. */
async function agent(server: TestServer, folder: string): Promise<ChildProcess> {
  const spec = join(folder, "share/jupyter/kernels/far");
  mkdirSync(spec, { recursive: true });
  const python = KERNELS ? join(KERNELS, "bin/python") : "python3";
  const argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"];
  writeFileSync(join(spec, "kernel.json"), JSON.stringify({ argv, display_name: "Far away", language: "python" }));
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
    await expect(page.getByRole("button", { name: /far is idle/ })).toBeVisible({ timeout: 60_000 });
    await write(page, "import time\nprint('begun', flush=True)\ntime.sleep(600)");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("begun", { exact: true })).toBeVisible({ timeout: 60_000 });

    const killed = Date.now();
    far.kill("SIGKILL");
    const notice = page.getByText(/The kernel is unreachable since/);
    await expect(notice).toBeVisible();
    expect(Date.now() - killed, "told within five seconds").toBeLessThan(5_000);
    await expect(page.locator(".cell").first()).toContainText("its runtime agent cannot be reached");
    await expect(page.getByRole("button", { name: /far cannot be reached/ })).toBeVisible();

    await page
      .getByRole("button", { name: /give up/i })
      .first()
      .click();
    await expect(notice).toBeHidden();
    await expect(page.locator(".cell").first()).toContainText(/Lost/);
  } finally {
    far.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});
