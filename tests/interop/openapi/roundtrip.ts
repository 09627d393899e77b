// Round trip with the client that openapi-typescript generates from protocol/openapi.json.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Problem = Partial<components["schemas"]["Problem"]>;

const baseUrl = process.env.NOTARIUM_URL;
const token = process.env.NOTARIUM_TOKEN;
assert(baseUrl !== undefined && token !== undefined, "NOTARIUM_URL and NOTARIUM_TOKEN name the server");
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

/** Returns the data of a successful answer. */
function answered<T>({ data, error }: { data?: T; error?: Problem }): T {
  assert.equal(error, undefined);
  assert(data !== undefined);
  return data;
}

/** Returns the problem code of a refused request. */
function refused({ error, response }: { error?: Problem; response: Response }): string | undefined {
  assert(error !== undefined, `refused: ${response.status}`);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(error.status, response.status);
  return error.code;
}

async function cells(notebook: string): Promise<void> {
  const path = { notebook };
  const body = { cell_type: "code", source: "x = 1" } as const;
  const made = answered(await client.POST("/api/notebooks/{notebook}/cells", { params: { path }, body }));
  const cell = made.outcome.cells?.[0];
  assert(cell !== undefined);
  const read = answered(await client.GET("/api/notebooks/{notebook}", { params: { path } }));
  assert.equal(read.notebook.cells[cell]?.source, "x = 1");
  const header = { "If-Match": `"${read.version + 7}"` };
  const late = await client.DELETE("/api/notebooks/{notebook}/cells/{cell}", { params: { path: { notebook, cell }, header } });
  assert.equal(refused(late), "conflict");
  assert.equal(late.error?.actual_version, read.version);
}

async function bytes(notebook: string): Promise<void> {
  const sent = new Uint8Array([0, 255, 10, 13, 128]);
  const sha256 = createHash("sha256").update(sent).digest("hex");
  const path = { notebook, sha256 };
  const plain = { bodySerializer: (body: unknown) => body as BodyInit, headers: { "Content-Type": "application/octet-stream" } };
  const body = sent as unknown as string;
  const uploaded = answered(await client.PUT("/api/notebooks/{notebook}/blobs/{sha256}", { params: { path }, body, ...plain }));
  assert.deepEqual([uploaded.sha256, uploaded.size_bytes], [sha256, sent.length]);
  const found = await client.GET("/api/notebooks/{notebook}/blobs/{sha256}", { params: { path }, parseAs: "arrayBuffer" });
  assert.deepEqual(new Uint8Array(answered(found)), sent);
  const file = answered(await client.GET("/api/notebooks/{notebook}/export", { params: { path: { notebook } } }));
  const imported = await client.POST("/api/import", {
    params: { query: { title: "Again" } },
    body: new TextEncoder().encode(JSON.stringify(file)) as unknown as string,
    ...plain,
  });
  assert.equal(answered(imported).title, "Again");
}

async function refusals(notebook: string): Promise<void> {
  const path = { notebook };
  const subject = { kind: "user", id: "nobody" } as const;
  const given = await client.PUT("/api/notebooks/{notebook}/access", { params: { path }, body: { subject, role: "viewer" } });
  assert.equal(refused(given), "unknown_subject");
  const grant = { conversation: "none", expires_at: Date.now() + 60_000, functions: [] };
  const let_in = await client.POST("/api/notebooks/{notebook}/grants", { params: { path }, body: grant });
  assert.equal(refused(let_in), "unknown_conversation");
  const unknown = await client.GET("/api/notebooks/{notebook}", { params: { path: { notebook: "nowhere" } } });
  assert.equal(refused(unknown), "unknown_notebook");
}

const title = "Made by TypeScript";
const notebook = answered(await client.POST("/api/notebooks", { body: { title, with_cell: false } })).notebook;
const listed = answered(await client.GET("/api/notebooks", { params: { query: { text: "TypeScript" } } }));
assert(listed.notebooks.some((line) => line.id === notebook && line.title === title));
await cells(notebook);
await bytes(notebook);
await refusals(notebook);
console.log("TypeScript: the round trip is as the document says");
