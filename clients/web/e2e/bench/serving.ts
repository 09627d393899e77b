// Proxy that serves the page of a folder (NOTARIUM_PAGE) in front of a server, compressed and cacheable like the program's own.
// `fresh` instead routes requests through the test, which distorts times.
import { existsSync, readFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { FRAME_POLICY, PAGE_TYPES, policy } from "../server.ts";

interface Sent {
  body: Buffer;
  headers: Record<string, string>;
}

/** Starts the proxy and returns its address. It ends with the process. */
export async function serving(folder: string, server: string): Promise<string> {
  const to = new URL(server);
  const files = new Map<string, Sent | undefined>();
  const file = (path: string, host: string) => {
    if (!files.has(path)) files.set(path, read(folder, path, host));
    return files.get(path);
  };
  const own = createServer((asked: IncomingMessage, answer: ServerResponse) => {
    const { pathname } = new URL(asked.url ?? "/", server);
    const found = file(pathname, asked.headers.host ?? "");
    if (found) return void answer.writeHead(200, found.headers).end(found.body);
    const headers = { ...asked.headers, host: to.host, ...(asked.headers.origin && { origin: to.origin }) };
    const passed = request({ host: to.hostname, port: to.port, path: asked.url, method: asked.method, headers });
    passed.on("response", (given) => given.pipe(answer.writeHead(given.statusCode ?? 500, given.headers)));
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
  own.on("upgrade", (asked, socket) => {
    const passed = connect({ host: to.hostname, port: Number(to.port), noDelay: true });
    const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
    // The server accepts only its own host name and origin.
    const known: Record<string, string> = { host: to.host, origin: to.origin };
    for (let at = 0; at < asked.rawHeaders.length; at += 2) {
      const name = asked.rawHeaders[at] ?? "";
      lines.push(`${name}: ${known[name.toLowerCase()] ?? asked.rawHeaders[at + 1]}`);
    }
    passed.write(`${lines.join("\r\n")}\r\n\r\n`);
    passed.pipe(socket).pipe(passed);
    for (const each of [passed, socket]) each.on("error", () => (passed.destroy(), socket.destroy()));
  });
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  own.unref();
  return `http://127.0.0.1:${(own.address() as { port: number }).port}`;
}

function read(folder: string, path: string, host: string): Sent | undefined {
  const place = join(folder, path === "/" ? "index.html" : path);
  if (!(path === "/" || path === "/frame.html" || path.startsWith("/assets/"))) return undefined;
  const packed = existsSync(`${place}.gz`);
  if (!packed && !existsSync(place)) return undefined;
  const type = PAGE_TYPES[place.split(".").at(-1) ?? ""] ?? "text/html";
  if (path === "/frame.html")
    return { body: readFileSync(place), headers: { "content-type": type, "content-security-policy": FRAME_POLICY } };
  if (path === "/") {
    const body = Buffer.from(readFileSync(place, "utf8").replaceAll("{nonce}", "once"));
    return { body, headers: { "content-type": type, "content-security-policy": policy(host), "cache-control": "no-cache" } };
  }
  return {
    body: readFileSync(packed ? `${place}.gz` : place),
    headers: {
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      ...(packed && { "content-encoding": "gzip" }),
    },
  };
}
