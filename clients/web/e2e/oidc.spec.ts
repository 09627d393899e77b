// Sign-in with a third-party OpenID Connect provider: the button, the provider's form, the notebooks.
import { type ChildProcess, spawn } from "node:child_process";
import type { Browser } from "@playwright/test";
import { ASKING, TestServer, expect, fresh, test as base } from "./server.ts";

const PYTHON = process.env.NOTARIUM_TEST_PYTHON ?? new URL("../../../target/test-venv/bin/python", import.meta.url).pathname;

/** Starts the provider on a free port and reads its address. */
async function startProvider(): Promise<{ process: ChildProcess; issuer: string }> {
  const started = spawn(PYTHON, ["-u", "-m", "oidc_provider_mock", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  const issuer = await new Promise<string>((found, failed) => {
    // Read the pipe to the end: a full one would block the provider.
    started.stderr?.on("data", (piece) => {
      text += String(piece);
      const issuer = /(http:\/\/[\d.:]+)/.exec(text)?.[1];
      if (issuer) found(issuer);
    });
    started.on("exit", () => failed(new Error(`no provider (\`make deps\` installs it): ${text}`)));
  });
  return { process: started, issuer };
}

/** Runs tests with a server whose provider knows Bea, and ends both afterwards. */
async function withProvider(more: string[], use: (server: TestServer) => Promise<void>): Promise<void> {
  const provider = await startProvider();
  const claims = { name: "Bea", email: "bea@example.org", email_verified: true };
  const headers = { "content-type": "application/json" };
  for (const [user, name] of Object.entries({ bea: "Bea", bob: "Bob" })) {
    const body = JSON.stringify({ ...claims, name, email: `${user}@example.org` });
    await fetch(`${provider.issuer}/users/${user}`, { method: "PUT", headers, body });
  }
  // The provider accepts every client that has a secret.
  process.env.NOTARIUM_OIDC_CLIENT_SECRET = "secret";
  const server = new TestServer();
  const options = ["--oidc-issuer", provider.issuer, "--oidc-client-id", "notarium", "--oidc-allow", "example.org"];
  await server.start([...options, "--oidc-name", "Example University", ...more]);
  await use(server);
  await server.end();
  provider.process.kill();
}

const test = base.extend<object, { oidc: TestServer; asking: TestServer }>({
  oidc: [async ({}, use) => withProvider([], use), { scope: "worker", timeout: 240_000 }],
  asking: [async ({}, use) => withProvider(ASKING, use), { scope: "worker", timeout: 240_000 }],
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
  await expect(page.getByRole("listitem").filter({ hasText: "bea@example.org" })).toBeVisible();
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByLabel("Command", { exact: true })).toHaveValue(/^notarium login --server \S+ --token nt_api_/);
});

test("no is said in words, and strangers and forged ways back are refused", async ({ browser, oidc }) => {
  const { page, button } = await atSignIn(browser, oidc);
  await button.click();
  await page.getByRole("button", { name: "Deny" }).click();
  await expect(page.getByRole("alert")).toContainText("was cancelled");
  await page.goto(`${oidc.url}/oidc/callback?code=stolen&state=somebody-else-s`);
  await expect(page.getByRole("alert")).toContainText("This sign-in has expired");
  expect(page.url()).toBe(`${oidc.url}/`);
  await button.click();
  await page.getByPlaceholder("sub").fill("eve");
  await page.getByRole("button", { name: "Authorize" }).click();
  await expect(page.getByRole("alert")).toContainText("ask an administrator");
});

test("who has no password signs in with the provider again before something is decided", async ({ browser, asking }) => {
  const signedIn = async (sub: string, name: string) => {
    const { page, button } = await atSignIn(browser, asking);
    await button.click();
    await page.getByPlaceholder("sub").fill(sub);
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.getByRole("button", { name }).click();
    return page;
  };
  await signedIn("bob", "Bob");
  const page = await signedIn("bea", "Bea");
  const wanted = page.getByRole("button", { name: "Create token" });
  const again = page.getByRole("button", { name: "Sign in with Example University", exact: true });
  const answer = async (sub: string) => {
    const [tab] = await Promise.all([page.context().waitForEvent("page"), again.click()]);
    await tab.getByPlaceholder("sub").fill(sub);
    return tab;
  };
  await wanted.click();
  await expect(page.getByRole("heading", { name: "Sign in with Example University again" })).toBeVisible();
  // Another account, then a denial: both show an error and change nothing.
  await (await answer("bob")).getByRole("button", { name: "Authorize" }).click();
  await expect(page.getByRole("alert")).toContainText("as someone else. Here you are Bea");
  await (await answer("bea")).getByRole("button", { name: "Deny" }).click();
  await expect(page.getByRole("alert")).toContainText("was cancelled");
  const tab = await answer("bea");
  await Promise.all([tab.waitForEvent("close"), tab.getByRole("button", { name: "Authorize" }).click()]);
  await expect(page.getByLabel("Command", { exact: true })).toHaveValue(/--token nt_api_/);
  expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain("nt_");
});
