// Writes into src/protocol/ from protocol/: messages.ts (messages, commands, events, the document), schemas.ts (the newest schema
// of each event type) and rest.ts.
// `node generate.mjs --check` fails when what is there is stale.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";
import openapiTS, { astToString } from "openapi-typescript";

const protocol = new URL("../../../protocol/", import.meta.url);
const target = new URL("../src/protocol/", import.meta.url);
const banner = "// Written by generate/generate.mjs from protocol/. Do not edit: run `npm run generate`.";

const read = (name) => JSON.parse(readFileSync(new URL(name, protocol), "utf8"));

/** Types of values that the schema cannot express. */
const WRITTEN = {
  AnyJson: "unknown",
  AnyObject: "{ [key: string]: unknown }",
  ChangeSet: "(number | [number, ...string[]])[]",
  TextRange: "[number, number]",
};

/** The generator makes a numbered type where something stands beside a `$ref`, and does not know `#`. */
function plain(node, root) {
  if (Array.isArray(node)) return node.map((child) => plain(child, root));
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref === "#" ? `#/$defs/${root}` : node.$ref };
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, plain(child, root)]));
}

async function messages() {
  const defs = {};
  for (const name of ["client-message", "server-message", "command", "event-payloads", "notebook"]) {
    const { $defs, $schema, ...root } = read(`schema/${name}.json`);
    for (const [key, value] of Object.entries({ [root.title]: root, ...$defs })) defs[key] ??= plain(value, root.title);
  }
  for (const [name, tsType] of Object.entries(WRITTEN)) if (name in defs) defs[name] = { tsType };
  for (const value of Object.values(defs)) delete value.title;
  const properties = Object.fromEntries(Object.keys(defs).map((name) => [name, { $ref: `#/$defs/${name}` }]));
  const everything = { type: "object", properties, additionalProperties: false, $defs: defs };
  const text = await compile(everything, "Everything", {
    additionalProperties: false,
    bannerComment: banner,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    format: false,
  });
  // The generator says of each type that it was asked for.
  const noise = / \* This interface was referenced by `Everything`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g;
  return text.replace(noise, "").replace(/\/\*\*\n( \* ?\n)? \*\/\n/g, "");
}

/** There is a golden file for each type and schema. */
function schemas() {
  const newest = new Map();
  for (const file of readdirSync(new URL("golden/events/", protocol)).sort()) {
    const [type, schema] = file.split(".");
    newest.set(type, Math.max(newest.get(type) ?? 0, Number(schema)));
  }
  const lines = [...newest].map(([type, schema]) => `  ["${type}", ${schema}],`);
  return `${banner}\n/** The newest schema of each event type. */\nexport const SCHEMAS: ReadonlyMap<string, number> = new Map([\n${lines.join("\n")}\n]);\n`;
}

async function rest() {
  const options = { emptyObjectsUnknown: true, defaultNonNullable: false, alphabetize: true };
  return `${banner}\n${astToString(await openapiTS(read("openapi.json"), options))}`;
}

mkdirSync(target, { recursive: true });
const isCheck = process.argv.includes("--check");
for (const [name, text] of [
  ["messages.ts", await messages()],
  ["schemas.ts", schemas()],
  ["rest.ts", await rest()],
]) {
  const file = new URL(name, target);
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/protocol/${name} is older than protocol/: run \`npm run generate\``);
    process.exitCode = 1;
  }
}
