// The Jupyter door with `@jupyterlab/services`, the library of JupyterLab and of VS Code, on a real kernel.
// Started by `tests/agent/jupyter.rs` beside a server with `--door jupyter` and a runtime agent.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// The library is built for bundlers: node reads it as CommonJS.
const require = createRequire(import.meta.url);
const { WebSocket } = require("ws");
const { ContentsManager, KernelManager, KernelSpecManager, ServerConnection, SessionManager } = require(
  "@jupyterlab/services",
);

const serverSettings = ServerConnection.makeSettings({
  baseUrl: `${process.env.NOTARIUM_URL}/jupyter/`,
  wsUrl: `${process.env.NOTARIUM_URL.replace("http", "ws")}/jupyter/`,
  token: process.env.NOTARIUM_TOKEN,
  appendToken: true,
  WebSocket,
});

const contents = new ContentsManager({ serverSettings });
const made = await contents.newUntitled({ type: "notebook" });
const renamed = await contents.rename(made.path, "Services.ipynb");
assert.equal(renamed.path, "Services.ipynb");
const listed = await contents.get("", { content: true });
assert.ok(listed.content.some((entry) => entry.path === "Services.ipynb"));
const model = await contents.get("Services.ipynb");
model.content.cells[0].source = "print('by services')";
await contents.save("Services.ipynb", model);
const cell = (await contents.get("Services.ipynb")).content.cells[0];
assert.equal([cell.source].flat().join(""), "print('by services')");
const checkpoint = await contents.createCheckpoint("Services.ipynb");
assert.deepEqual(await contents.listCheckpoints("Services.ipynb"), [checkpoint]);

const specs = new KernelSpecManager({ serverSettings });
await specs.ready;
assert.equal(specs.specs.default, "python3");

const kernels = new KernelManager({ serverSettings });
const sessions = new SessionManager({ serverSettings, kernelManager: kernels });
const session = await sessions.startNew({
  path: "Services.ipynb",
  name: "Services.ipynb",
  type: "notebook",
  kernel: { name: "python3" },
});
const kernel = session.kernel;
const info = await kernel.info;
assert.equal(info.status, "ok");
assert.equal(info.language_info.name, "python");

async function run(code, metadata) {
  const texts = [];
  const future = kernel.requestExecute({ code }, true, metadata);
  future.onIOPub = (message) => {
    if (message.header.msg_type === "stream") {
      texts.push(message.content.text);
    }
  };
  const reply = await future.done;
  return { status: reply.content.status, text: texts.join(""), ename: reply.content.ename };
}

assert.deepEqual(await run("print('by services')", { cellId: cell.id }), {
  status: "ok",
  text: "by services\n",
  ename: undefined,
});
assert.equal((await run("value = 41")).status, "ok");
assert.equal((await run("print(value + 1)")).text, "42\n");
assert.equal((await run("nowhere")).ename, "NameError");
// The first completion loads a library in the kernel: on a busy machine it comes too late, and the refusal says to ask again.
let completion;
for (let attempt = 0; attempt < 20 && completion?.content.status !== "ok"; attempt += 1) {
  completion = await kernel.requestComplete({ code: "'😀'; val", cursor_pos: 8 });
}
assert.equal(completion.content.status, "ok", JSON.stringify(completion.content));
assert.ok(completion.content.matches.includes("value"));
assert.equal(completion.content.cursor_start, 5);
const inspection = await kernel.requestInspect({ code: "print", cursor_pos: 5, detail_level: 0 });
assert.ok(inspection.content.found);
await kernel.restart();
assert.equal((await run("print('value' in globals())")).text, "False\n");
await session.shutdown();

// The run that named its cell is that cell's: the page shows its output.
const shown = (await contents.get("Services.ipynb")).content.cells[0];
assert.equal([shown.outputs[0].text].flat().join(""), "by services\n");
console.log("services: ok");
process.exit(0);
