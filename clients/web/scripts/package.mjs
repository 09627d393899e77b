// Writes the npm package of the protocol client to a folder, for `npm pack`: src/client.ts with what it imports, as modules with types.
//
//     node scripts/package.mjs FOLDER
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.argv[2] ?? ".");
const page = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));

const manifest = {
  name: "notarium-client",
  version: page.version,
  description: "Client of Notarium's protocol: connection, commands, and the notebook as a fold of its events",
  license: page.license,
  type: "module",
  engines: { node: ">=22" },
  exports: { ".": { types: "./dist/client.d.ts", default: "./dist/client.js" } },
  files: ["dist"],
  sideEffects: false,
  dependencies: { "@noble/hashes": page.dependencies["@noble/hashes"] },
};

const README = `# notarium-client

The client of Notarium's protocol that its page uses, without the page: \`Connection\` (one socket, reopened after
each failure), \`Replica\` (a notebook as the fold of its events), \`Outbox\` (commands under ids, repeated until answered), \`Rest\`, and the
types of all messages (\`messages\`, \`rest\`). For browsers and Node 22 or newer.

\`\`\`js
import { Connection, Rest } from "notarium-client";

const server = "http://127.0.0.1:8787";
const api = new Rest({ base: server, token: () => token });
console.log(await api.json("GET", "/api/notebooks"));

const open = () => new WebSocket(server.replace("http", "ws") + "/api/socket", ["notarium"]);
const connection = new Connection({ open, client: "example/1" });
connection.changed.add(() => console.log(connection.state.name));
connection.start(token);
\`\`\`
`;

mkdirSync(folder, { recursive: true });
const options = ["--target", "ES2024", "--lib", "ES2024,DOM,DOM.Iterable", "--module", "ESNext", "--moduleResolution", "bundler"];
const strict = ["--strict", "--noUncheckedIndexedAccess", "--verbatimModuleSyntax", "--skipLibCheck"];
const emit = ["--allowImportingTsExtensions", "--rewriteRelativeImportExtensions", "--declaration", "--types", ""];
const sources = ["--rootDir", join(web, "src"), "--outDir", join(folder, "dist")];
const tsc = join(web, "node_modules/.bin/tsc");
execFileSync(tsc, ["--ignoreConfig", ...options, ...strict, ...emit, ...sources, join(web, "src/client.ts")], {
  cwd: web,
  stdio: "inherit",
});
// The compiler rewrites imports in modules alone.
for (const name of readdirSync(join(folder, "dist"), { recursive: true }).filter((name) => name.endsWith(".d.ts"))) {
  const file = join(folder, "dist", name);
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/((?:from|import\()\s*"\.[^"]*)\.ts"/g, '$1.js"'));
}
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(folder, "README.md"), README);
copyFileSync(join(web, "../../LICENSE"), join(folder, "LICENSE"));
