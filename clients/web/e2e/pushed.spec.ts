// HTML that code pushes with add_html of dialoghelper, and forms of foreign pages to the door.
import { createServer } from "node:http";
import { expect, person, saved, test, write } from "./server.ts";

/** Pushes HTML as dialoghelper does, over the kernel's socket: no token is needed. */
const push = (html: string) => `import json, os, socket, urllib.parse
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(json.loads(os.environ["NOTARIUM_CONNECTIONS"])["socket"])
    body = urllib.parse.urlencode({"content": ${JSON.stringify(html)}}).encode()
    head = {"endpoint": "add_html_", "content_type": "application/x-www-form-urlencoded", "size_bytes": len(body)}
    channel.sendall(b"@\\n" + json.dumps(head).encode() + b"\\n" + body)
    print(channel.makefile("rb").read().decode())`;

test("HTML that code pushes is shown in a sandboxed frame, and is not saved", async ({ browser, server }) => {
  const page = await person(browser, server);
  const other = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "1");
  await saved(page);
  // A page follows pushes while the notebook has a kernel.
  const followed = page.waitForResponse(/\/pushes$/);
  await page.keyboard.press("Control+Enter");
  await followed;
  const followedToo = other.waitForResponse(/\/pushes$/);
  await other.goto(page.url());
  await followedToo;
  const html = `<h2 id="told">From code</h2><script>
    let reached = "nothing";
    try { reached = parent.document.title } catch (error) { reached = error.name }
    document.getElementById("told").textContent = "Reached: " + reached;
  </script>`;
  await write(page, "");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(push(html));
  await saved(page);
  await page.keyboard.press("Control+Enter");
  for (const each of [page, other]) {
    const pushed = each.getByRole("region", { name: "Sent by code" });
    await expect(pushed.frameLocator("iframe").getByText("Reached: SecurityError")).toBeVisible({ timeout: 60_000 });
  }
  await page.screenshot({ path: test.info().outputPath("pushed.png") });
  await page.getByRole("region", { name: "Sent by code" }).getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("region", { name: "Sent by code" })).toHaveCount(0);
  await other.reload();
  await expect(other.locator(".cell").first()).toBeVisible();
  await expect(other.getByRole("region", { name: "Sent by code" })).toHaveCount(0);
});

test("a form or a request of a foreign page does not reach the door", async ({ browser, server }) => {
  const door = server.door;
  const page = await (await browser.newContext()).newPage();
  const foreign = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(
      `<form method="post" action="${door}/rm_msg_"><input name="dlg_name" value="x"><input name="msid" value="y"><button>Send</button></form>`,
    );
  });
  await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
  const address = foreign.address();
  if (typeof address !== "object" || !address) throw new Error("the foreign page has no address");
  await page.goto(`http://127.0.0.1:${address.port}/`);
  const sent = page.waitForResponse(/\/rm_msg_$/);
  await page.getByRole("button", { name: "Send" }).click();
  expect((await sent).status()).toBe(403);
  await page.goto(`http://localhost:${address.port}/`);
  const reached = await page.evaluate(async (door) => {
    const body = new URLSearchParams({ dlg_name: "x", msid: "y" });
    await fetch(`${door}/rm_msg_`, { method: "POST", body, mode: "no-cors" });
    return fetch(`${door}/rm_msg_`, { method: "POST", body }).then(
      () => "read",
      () => "refused",
    );
  }, door);
  expect(reached).toBe("refused");
  foreign.close();
});
