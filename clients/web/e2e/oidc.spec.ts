// Signing in with a provider of OpenID Connect that we did not write: the button, the provider's form, the notebooks.
import { type ChildProcess, spawn } from "node:child_process";
import type { Browser } from "@playwright/test";
import { TestServer, expect, fresh, test as base } from "./server.ts";

const PYTHON = process.env.NOTARIUM_TEST_PYTHON ?? new URL("../../../target/test-venv/bin/python", import.meta.url).pathname;

/** A process on a free port, which it tells. */
async function startProvider(): Promise<{ process: ChildProcess; issuer: string }> {
  const started = spawn(PYTHON, ["-u", "-m", "oidc_provider_mock", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  const issuer = await new Promise<string>((found, failed) => {
    // It is read to the end, or the provider would stop at a full pipe.
    started.stderr?.on("data", (piece) => {
      text += String(piece);
      const issuer = /(http:\/\/[\d.:]+)/.exec(text)?.[1];
      if (issuer) found(issuer);
    });
    started.on("exit", () => failed(new Error(`no provider (\`make deps\` installs it): ${text}`)));
  });
  return { process: started, issuer };
}

const test = base.extend<object, { oidc: TestServer }>({
  oidc: [
    async ({}, use) => {
      const provider = await startProvider();
      const claims = { name: "Bea", email: "bea@example.org", email_verified: true };
      const headers = { "content-type": "application/json" };
      await fetch(`${provider.issuer}/users/bea`, { method: "PUT", headers, body: JSON.stringify(claims) });
      // The provider knows every client that has a secret.
      process.env.NOTARIUM_OIDC_CLIENT_SECRET = "secret";
      const server = new TestServer();
      const options = ["--oidc-issuer", provider.issuer, "--oidc-client-id", "notarium", "--oidc-allow", "example.org"];
      await server.start([...options, "--oidc-name", "Example University"]);
      await use(server);
      await server.end();
      provider.process.kill();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

async function atSignIn(browser: Browser, server: TestServer) {
  const page = await (await fresh(browser)).newPage();
  await page.goto(server.url);
  const button = page.getByRole("button", { name: "Sign in with Example University" });
  await expect(button).toBeVisible();
  return { page, button };
}

test("who is of the domain comes in, stays signed in, and leaves no code behind", async ({ browser, oidc }) => {
  const { page, button } = await atSignIn(browser, oidc);
  await button.click();
  await page.getByPlaceholder("sub").fill("bea");
  await page.getByRole("button", { name: "Authorize" }).click();
  await expect(page.getByRole("button", { name: "New notebook" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Bea" })).toBeVisible();
  expect(page.url()).toBe(`${oidc.url}/`);
  expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain("nt_");
  await page.reload();
  await page.getByRole("button", { name: "Bea" }).click();
  await expect(page.getByText("bea@example.org", { exact: true }).or(page.getByText("bea@example.org at"))).toBeVisible();
  await page.getByRole("button", { name: "Token for the command line" }).click();
  await expect(page.getByLabel("Command", { exact: true })).toHaveValue(/^notarium login --server \S+ --token nt_api_/);
});

test("no is said in words, and strangers and forged ways back are refused", async ({ browser, oidc }) => {
  const { page, button } = await atSignIn(browser, oidc);
  await button.click();
  await page.getByRole("button", { name: "Deny" }).click();
  await expect(page.getByRole("alert")).toContainText("You did not sign in with");
  await page.goto(`${oidc.url}/oidc/callback?code=stolen&state=somebody-else-s`);
  await expect(page.getByRole("alert")).toContainText("not begun in this browser");
  expect(page.url()).toBe(`${oidc.url}/`);
  await button.click();
  await page.getByPlaceholder("sub").fill("eve");
  await page.getByRole("button", { name: "Authorize" }).click();
  await expect(page.getByRole("alert")).toContainText("ask an administrator");
});
