// Outputs with scripts: they cannot steal keys or reach the network, and those of imported files need the person's consent.
import { type Socket, createSocket } from "node:dgram";
import type { Locator, Page } from "@playwright/test";
import { python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { expect, person, saved, test, write } from "./server.ts";

/** STUN server on loopback that counts datagrams and never answers. */
async function listener(): Promise<{ socket: Socket; port: number; heard: () => number }> {
  const socket = createSocket("udp4");
  let count = 0;
  socket.on("message", () => (count += 1));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { socket, port: socket.address().port, heard: () => count };
}

const connect = (port: number) => `((w) => {
  const Peer = w.RTCPeerConnection ?? w.webkitRTCPeerConnection;
  if (!Peer) return "gone";
  const peer = new Peer({ iceServers: [{ urls: "stun:127.0.0.1:${port}" }] });
  peer.createDataChannel("x");
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  return "REACHED";
})`;

/** Ways to take the focus that the frame's guard blocks. */
const BY_FOCUS =
  "window.focus(); trap.focus(); HTMLElement.prototype.focus.call(trap); if (!modal.open) modal.showModal(); " +
  "for (let at = 0; at < top.length; at += 1) top[at].focus(); for (let at = 0; at < length; at += 1) window[at].focus();";
/** Gives the keyboard to another output, which the guard inside the frame cannot prevent. */
const TO_OTHERS =
  "if (Date.now() < (window.next ?? 0)) return; window.next = Date.now() + 300; for (let at = 0; at < top.length; at += 1) top[at].focus();";

/** Output that takes the keyboard at intervals, records keys, and tries every way to a realm with WebRTC. */
const hostile = (port: number, take: string) => `<p id=told>…</p><input id=trap><dialog id=modal><input></dialog><script>
  const keys = [], tried = {};
  for (const type of ["keydown", "keypress", "keyup", "input", "beforeinput"])
    addEventListener(type, (event) => keys.push(type + ":" + (event.key ?? event.data)), true);
  setInterval(() => { if (window.isOff) return; ${take} }, 5);
  const go = ${connect(port)};
  const attempt = (name, action) => { try { tried[name] = String(action()); } catch (error) { tried[name] = error.name; } };
  const child = (fields, where = document.body) => { const made = document.createElement("iframe"); Object.assign(made, fields); where.append(made); return made; };
  const inside = "<scr" + "ipt>(" + go + ")(window);parent.postMessage('ran','*')</scr" + "ipt>";
  addEventListener("message", (event) => { if (event.data === "ran") tried.child = "REACHED"; });
  attempt("own", () => go(window));
  attempt("blank", () => go(child({}).contentWindow));
  attempt("indexed", () => { document.body.insertAdjacentHTML("beforeend", "<iframe></iframe>"); return go(window[0]); });
  attempt("srcdoc", () => child({ srcdoc: inside }).srcdoc.length > 9);
  attempt("svg", () => child({ srcdoc: "<svg onload=\\"" + "(" + String(go).replaceAll('"', "'") + ")(window);parent.postMessage('ran','*')\\">" }) && "made");
  attempt("javascript", () => child({ src: "javascript:(" + go + ")(window);parent.postMessage('ran','*')" }) && "made");
  attempt("blob", () => child({ src: URL.createObjectURL(new Blob([inside], { type: "text/html" })) }) && "made");
  attempt("shadow", () => { const host = document.createElement("div"); document.body.append(host); child({ srcdoc: inside }, host.attachShadow({ mode: "closed" })); return "made"; });
  attempt("copied shadow", () => {
    const host = document.createElement("div"); const root = host.attachShadow({ mode: "closed", clonable: true });
    child({ srcdoc: inside }, root); document.body.append(host.cloneNode(true)); return "made";
  });
  attempt("declared shadow", () => {
    const host = document.createElement("div"); document.body.append(host);
    host.setHTMLUnsafe("<div><template shadowrootmode=closed><iframe srcdoc='" + inside.replaceAll("'", "&#39;") + "'></iframe></template></div>");
    return "made";
  });
  attempt("freed", () => {
    const made = child({ srcdoc: "<p>Still</p>" });
    setTimeout(() => { const still = document.querySelector("iframe"); if (!still) return; still.removeAttribute("sandbox"); still.srcdoc = inside; }, 50);
    return "made";
  });
  attempt("written", () => document.write("<iframe srcdoc='x'></iframe>"));
  attempt("replaced", () => { Element.prototype.remove = () => {}; Element.prototype.replaceWith = () => {}; MutationObserver.prototype.disconnect.call(1); });
  attempt("after", () => child({ srcdoc: inside }) && "made");
  attempt("worker", () => new Worker(URL.createObjectURL(new Blob(["(" + go + ")(self)"]))) && "made");
  addEventListener("message", (event) => { tried.port = event.ports.length > 0 ? "REACHED" : tried.port ?? "none"; });
  parent.postMessage("ready", "*");
  setInterval(() => { told.textContent = JSON.stringify({ keys: keys.length, typed: trap.value, ...tried }); }, 50);
</script>`;

const told = (page: Page) => page.frameLocator("iframe.frame >> nth=-1").locator("#told");

/** Creates an output that takes the keyboard, quiet outputs, and a second cell with an open editor below. */
async function besideHostile(page: Page, port: number, take: string, quiet = 0): Promise<Locator> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import IPython.display as d, base64\n");
  const source = Buffer.from(hostile(port, take)).toString("base64");
  await page.keyboard.insertText(`d.display(d.HTML("<script>1</script>Quiet"))\n`.repeat(quiet));
  await page.keyboard.insertText(`d.HTML(base64.b64decode("${source}").decode())`);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Enter");
  const second = page.locator(".cell").nth(1).locator(".cm-content");
  await second.waitFor();
  return second;
}

/** Report of the output's attempts, once it has made them. */
async function toldNow(page: Page): Promise<string | undefined> {
  if (!(await told(page).isVisible())) return undefined;
  const text = await told(page)
    .textContent({ timeout: 1_000 })
    .catch(() => null);
  return text?.startsWith("{") ? text : undefined;
}

function reachedNothing(text: string): void {
  expect(text).toContain('"keys":0,"typed":""');
  expect(text).toContain('"own":"gone"');
  expect(text).not.toContain("REACHED");
}

/** Count of keys typed beside the output: more than the guard needs to stop it. */
const KEYS = 30;

test("an output that takes the keyboard gets neither it nor a key, and reaches nobody by WebRTC @smoke", async ({
  browser,
  server,
}) => {
  const stun = await listener();
  const page = await person(browser, server);
  const second = await besideHostile(page, stun.port, BY_FOCUS);
  let typed = "";
  let seen = 0;
  while (seen < KEYS) {
    await page.keyboard.press("x");
    typed += "x";
    const text = await toldNow(page);
    if (text) reachedNothing(text);
    if (text) seen += 1;
  }
  await expect(second).toBeFocused();
  await expect(page.getByText("Stopped: this output")).toHaveCount(0);
  await expect(second).toHaveText(typed);
  await saved(page);
  const notebook = /#\/n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  expect(await server.command("show", notebook)).toContain(typed);
  expect(stun.heard()).toBe(0);
  // The listener works: a realm with WebRTC reaches it.
  await page.evaluate(`${connect(stun.port)}(window)`);
  await expect.poll(stun.heard).toBeGreaterThan(0);
  stun.socket.close();
});

test("an output that is given the keyboard by another is stopped, and no key is lost @smoke", async ({ browser, server }) => {
  const stun = await listener();
  const page = await person(browser, server);
  const second = await besideHostile(page, stun.port, TO_OTHERS, 1);
  const stopped = page.getByText("Stopped: this output kept taking the keyboard.");
  let typed = "";
  while (!(await stopped.isVisible())) {
    await page.keyboard.press("x");
    typed += "x";
    const text = await toldNow(page);
    if (text) reachedNothing(text);
  }
  await expect(stopped).toBeInViewport();
  await page.keyboard.type("yz");
  const where = await page.evaluate(() => `${document.activeElement?.outerHTML.slice(0, 200)} ${document.hasFocus()}`);
  await expect(second, where).toBeFocused();
  await expect(second).toHaveText(`${typed}yz`);
  await saved(page);
  const notebook = /#\/n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  expect(await server.command("show", notebook)).toContain(`${typed}yz`);
  expect(stun.heard()).toBe(0);
  stun.socket.close();
});

test("a press in a frame gives it the keyboard, and a key of the page does", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(
    page,
    `from IPython.display import HTML\nHTML("<input id=one><p id=heard></p><script>one.focus();addEventListener('keydown',(e)=>heard.append(e.key))</script>")`,
  );
  await page.keyboard.press("Control+Enter");
  const field = page.frameLocator("iframe.frame").locator("#one");
  await expect(field).toBeVisible({ timeout: 60_000 });
  await field.click();
  await expect(page.locator(".frame-hint")).toBeVisible();
  await page.keyboard.type("abc");
  await expect(field).toHaveValue("abc");
  await page.keyboard.press("Escape");
  await expect(page.locator(".cell")).toBeFocused();
  await page.keyboard.press("Control+Alt+k");
  await expect(page.locator(".frame-hint")).toBeVisible();
  await page.keyboard.type("d");
  // The output's field has lost the focus: keys go to its document.
  await expect(page.frameLocator("iframe.frame").locator("#heard")).toHaveText("abcEscaped");
});

test("scripts of a file run after Show active content, once for its notebook; its other outputs show at once", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const output = (html: string) => ({ output_type: "display_data", data: { "text/html": html }, metadata: {} });
  const cells = [
    { ...python("a", "show()"), execution_count: 1, outputs: [output("<b id=ran>no</b><script>ran.textContent = 'yes'</script>")] },
    { ...python("b", "look()"), execution_count: 2, outputs: [output('<p style="color: #c00" id=styled>Styled</p>')] },
    { ...python("c", "sly()"), execution_count: 3, outputs: [output("<svg><p id=sly onpointerenter&#61;1></p></svg><b>Sly</b>")] },
  ];
  const metadata = { kernelspec: { name: "python3", display_name: "Python 3" } };
  await bringIn(page, { nbformat: 4, nbformat_minor: 5, metadata, cells }, "brought.ipynb");
  const show = page.getByRole("button", { name: "Show active content" });
  await expect(show).toHaveCount(1);
  await expect(page.frameLocator(".cell:nth-of-type(2) iframe.frame, iframe.frame >> nth=0").getByText("Styled")).toBeVisible();
  expect(page.frames().filter((frame) => frame.url().endsWith("/frame.html"))).toHaveLength(2);
  await page.reload();
  await show.click();
  await expect(page.frameLocator("iframe.frame >> nth=0").locator("#ran")).toHaveText("yes");
  await page.reload();
  await expect(page.frameLocator("iframe.frame >> nth=0").locator("#ran")).toHaveText("yes");
  // Another person must consent separately.
  const other = await person(browser, server);
  await other.goto(page.url());
  await expect(other.getByRole("button", { name: "Show active content" })).toHaveCount(1);
});

test("two questions of a run and their answers stay in sight, a password's value does not; others answer too", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "from getpass import getpass\na = input('First? ')\nb = getpass('Secret? ')\nprint('done')");
  await page.keyboard.press("Control+Enter");
  const field = page.getByLabel("First?");
  await expect(field).toBeInViewport({ timeout: 60_000 });
  await expect(page.locator(".cell .state")).toContainText("Waiting for input");
  await expect(page.locator(".button.kernel")).toHaveAttribute("title", /Waiting for input/);
  const notebook = /#\/n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  expect(await server.command("show", notebook)).toContain("waiting for input");
  await field.click();
  await page.keyboard.type("a < b");
  await page.keyboard.press("Enter");
  // Another person answers the second question.
  await expect(page.getByLabel("Secret?")).toBeInViewport();
  const other = await person(browser, server);
  await other.goto(page.url());
  await other.getByLabel("Secret?").click();
  await other.keyboard.type("hushhush");
  await other.keyboard.press("Enter");
  await expect(page.locator(".outputs")).toContainText("done");
  for (const each of [page, other]) {
    const answers = each.getByLabel("Input", { exact: true }).locator("dd");
    await expect(answers).toHaveText(["a < b", "Hidden"]);
    await expect(answers.first()).toBeInViewport();
  }
  await page.reload();
  await expect(page.getByLabel("Input", { exact: true }).locator("dd")).toHaveText(["a < b", "Hidden"]);
  const events = JSON.stringify(await (await server.send("GET", `/api/notebooks/${notebook}/events?limit=1000`)).json());
  expect(events).not.toContain("hushhush");
  // Interrupted while it waits: the question remains without an answer.
  await page.locator(".cell").first().focus();
  await page.keyboard.press("Control+Enter");
  await expect(field).toBeInViewport();
  await server.command("interrupt", notebook);
  await expect(page.getByLabel("Input", { exact: true }).locator("dd")).toHaveText(["No answer"], { timeout: 30_000 });
});
