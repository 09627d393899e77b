// Checks the generated types against the golden files: each file becomes a constant of its type, which the compiler checks.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SCHEMAS } from "../../src/protocol/schemas.ts";
import { names, readJson, readText } from "../golden.ts";

const folder = new URL("../../.golden/", import.meta.url);
const web = fileURLToPath(new URL("../../", import.meta.url));

function constants(): string[] {
  const typed = (path: string, type: string) => `const _: ${type} = ${readText(path)};`;
  const payload = (file: string) => JSON.stringify(readJson<{ payload: unknown }>(`events/${file}`).payload);
  return [
    ...names("messages/client").map((file) => typed(`messages/client/${file}`, "ClientMessage")),
    ...names("messages/server").map((file) => typed(`messages/server/${file}`, "ServerMessage")),
    ...names("commands").map((file) => typed(`commands/${file}`, "Command")),
    ...names("events")
      .filter((file) => file.includes(`.${SCHEMAS.get(file.split(".")[0] ?? "")}.`))
      .map((file) => `const _: Payload<"${file.split(".")[0]}"> = ${payload(file)};`),
  ];
}

test("every golden message, command and event has the type that is generated for it", { timeout: 60_000 }, () => {
  const blocks = constants();
  expect(blocks.length).toBeGreaterThan(100);
  const head = `import type { ClientMessage, Command, EventPayloads, ServerMessage } from "../src/protocol/messages.ts";
type Payload<T extends keyof EventPayloads> = NonNullable<EventPayloads[T]>;\n`;
  mkdirSync(folder, { recursive: true });
  const file = fileURLToPath(new URL("all.ts", folder));
  writeFileSync(file, head + blocks.map((block) => `{\n${block}\n}\n`).join(""));
  const options = [
    "--noEmit",
    "--ignoreConfig",
    "--strict",
    "--skipLibCheck",
    "--target",
    "es2024",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--allowImportingTsExtensions",
  ];
  const check = () =>
    execFileSync(process.execPath, [`${web}node_modules/typescript/bin/tsc`, ...options, file], { cwd: web, encoding: "utf8" });
  expect(check).not.toThrow();
});
