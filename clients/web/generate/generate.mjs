// Writes into src/protocol/ from protocol/: messages.ts (messages, commands, events, the document), rest.ts (the types of REST
// answers that the page imports, without those of messages.ts) and schemas.ts (event types with their newest schema, and cell types).
// Into src/outputs/: widths.ts (columns of characters in a terminal).
// Writes with NOTARIUM_BLESS=1; otherwise names the stale files and fails.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

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

/** The generator makes a numbered type where something stands beside a `$ref`, and knows neither `#` nor `prefixItems`. */
function plain(node, root) {
  if (Array.isArray(node)) return node.map((child) => plain(child, root));
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref === "#" ? `#/$defs/${root}` : node.$ref };
  const { prefixItems, ...rest } = node;
  const tuple = prefixItems && { items: prefixItems, additionalItems: false };
  return Object.fromEntries(Object.entries({ ...rest, ...tuple }).map(([key, child]) => [key, plain(child, root)]));
}

/** Definitions by name as exported types. */
async function types(defs, head) {
  for (const [name, tsType] of Object.entries(WRITTEN)) if (name in defs) defs[name] = { tsType };
  for (const value of Object.values(defs)) delete value.title;
  const properties = Object.fromEntries(Object.keys(defs).map((name) => [name, { $ref: `#/$defs/${name}` }]));
  const everything = { type: "object", properties, additionalProperties: false, $defs: defs };
  const text = await compile(everything, "Everything", {
    additionalProperties: false,
    bannerComment: head,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    format: false,
  });
  // The generator says of each type that it was asked for.
  const noise = / \* This interface was referenced by `Everything`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g;
  const index = /\nexport interface Everything \{\n[^]*?\n\}\n/;
  return text
    .replace(noise, "")
    .replace(index, "\n")
    .replace(/\/\*\*\n( \* ?\n)? \*\/\n/g, "");
}

/** Definitions of the messages' schemas, by name. */
function messageDefinitions() {
  const defs = {};
  for (const name of ["client-message", "server-message", "command", "event-payloads", "notebook"]) {
    const { $defs, $schema, ...root } = read(`schema/${name}.json`);
    for (const [key, value] of Object.entries({ [root.title]: root, ...$defs })) defs[key] ??= plain(value, root.title);
  }
  return defs;
}

/** Names that the page imports from rest.ts. */
function importedNames() {
  const files = ["src/", "tests/", "e2e/"].flatMap((folder) => {
    const place = new URL(`../${folder}`, import.meta.url);
    return readdirSync(place, { recursive: true })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => new URL(name, place));
  });
  const imports = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/import type \{([^}]*)\} from "[./\w]*\/protocol\/rest\.ts"/g),
  ]);
  const names = imports.flatMap(([, list]) => list.split(",").map((name) => name.trim().split(" as ")[0]));
  return [...new Set(names.filter(Boolean))].sort();
}

async function rest() {
  const { schemas } = read("openapi.json").components;
  const shared = messageDefinitions();
  const [defs, borrowed] = [{}, new Set()];
  const take = (name) => {
    if (name in shared) return void borrowed.add(name);
    if (name in defs) return;
    if (!(name in schemas)) throw new Error(`protocol/openapi.json has no schema ${name}`);
    const refs = [...JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, ref]) => ref);
    defs[name] = plain(schemas[name], name);
    refs.forEach(take);
  };
  importedNames().forEach(take);
  const text = JSON.stringify(defs).replace(/\{"\$ref":"#\/components\/schemas\/(\w+)"\}/g, (_, name) =>
    JSON.stringify(borrowed.has(name) ? { tsType: name } : { $ref: `#/$defs/${name}` }),
  );
  const imports = `import type { ${[...borrowed].sort().join(", ")} } from "./messages.ts";`;
  return types(JSON.parse(text), `${banner}\n${imports}`);
}

/** Words of an enum's schema. */
const words = (schema) => schema.enum ?? schema.oneOf.map((each) => each.const);

/** There is a golden file for each type and schema. */
function schemas() {
  const newest = new Map();
  for (const file of readdirSync(new URL("golden/events/", protocol)).sort()) {
    const [type, schema] = file.split(".");
    newest.set(type, Math.max(newest.get(type) ?? 0, Number(schema)));
  }
  const lines = [...newest].map(([type, schema]) => `  ["${type}", ${schema}],`);
  const cellTypes = JSON.stringify(words(read("schema/event-payloads.json").$defs.CellType)).replaceAll(",", ", ");
  return `${banner}
import type { CellType, EventPayloads } from "./messages.ts";

export type EventType = keyof EventPayloads;

export const CELL_TYPES: readonly CellType[] = ${cellTypes};

/** The newest schema of each event type. */
export const SCHEMAS: ReadonlyMap<string, number> = new Map<EventType, number>([
${lines.join("\n")}
]);
`;
}

/** Columns that characters take in a terminal, as the agent counts them. */
function widths() {
  const changes = readFileSync(new URL("../../../tests/fixtures/terminal/widths.txt", import.meta.url), "utf8").trim();
  return `// Written by generate/generate.mjs from tests/fixtures/terminal/widths.txt. Do not edit: run \`npm run generate\`.
// Columns that characters take in a terminal.

/** After how many characters (base 36) the next width begins. Z: none, N: one, W: two, T: three columns. */
const CHANGES =
  "${changes}";
const starts: number[] = [0];
const widths: number[] = [1];
for (const [, count = "", name = ""] of CHANGES.matchAll(/([0-9a-z]+)([ZNWT])/g)) {
  starts.push((starts.at(-1) ?? 0) + Number.parseInt(count, 36));
  widths.push("ZNWT".indexOf(name));
}

export function widthOf(code: number): number {
  if (code < 0x7f) return 1;
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= code) low = middle;
    else high = middle;
  }
  return widths[low] ?? 1;
}
`;
}

mkdirSync(target, { recursive: true });
for (const [name, text] of [
  ["messages.ts", await types(messageDefinitions(), banner)],
  ["rest.ts", await rest()],
  ["schemas.ts", schemas()],
  ["../outputs/widths.ts", widths()],
]) {
  const file = new URL(name, target);
  if (process.env.NOTARIUM_BLESS) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/protocol/${name} is older than its source: run \`npm run generate\``);
    process.exitCode = 1;
  }
}
