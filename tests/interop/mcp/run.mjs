// Runs the official conformance scenarios against the server NOTARIUM_URL with the token NOTARIUM_TOKEN.
//
// A small proxy adds the token, which the scenarios do not support. expected.json lists scenarios that must fail, with reasons.
// The run fails if another one fails, or if one of these passes.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// import.meta.dirname is not in Node 18.
const here = path.dirname(fileURLToPath(import.meta.url));
const upstream = new URL(process.env.NOTARIUM_URL);
const token = process.env.NOTARIUM_TOKEN;

/** Node 22, which the scenarios need. Their package brings it for most platforms. */
function node() {
  const own = path.join(here, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(own)) return own;
  if (parseInt(process.versions.node) >= 22) return process.execPath;
  console.error('the conformance scenarios need Node 22, and npm has none for this machine: install it');
  process.exit(1);
}

/** Forwards requests with the token. The proxy's address in Host and Origin is replaced by the server's. */
function forward(incoming, outgoing, own) {
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
  const names = [`localhost:${own}`, `127.0.0.1:${own}`];
  if (names.includes(headers.host)) headers.host = upstream.host;
  if (names.map((name) => `http://${name}`).includes(headers.origin)) headers.origin = upstream.origin;
  const options = { host: upstream.hostname, port: upstream.port, path: incoming.url, method: incoming.method, headers };
  const request = http.request(options, (response) => {
    outgoing.writeHead(response.statusCode, response.headers);
    response.pipe(outgoing);
  });
  request.on('error', () => outgoing.destroy());
  outgoing.on('close', () => request.destroy());
  incoming.pipe(request);
}

function listen() {
  return new Promise((resolve) => {
    const server = http.createServer((incoming, outgoing) => forward(incoming, outgoing, server.address().port));
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function run(url, baseline, folder) {
  const program = path.join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const options = ['--suite', 'all', '--url', url, '--expected-failures', baseline, '--output-dir', folder];
  const child = spawn(node(), [program, 'server', ...options], { cwd: folder });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })));
}

const expected = JSON.parse(readFileSync(path.join(here, 'expected.json'), 'utf8'));
const folder = mkdtempSync(path.join(tmpdir(), 'notarium-conformance-'));
const baseline = path.join(folder, 'expected.yml');
writeFileSync(baseline, `server:\n${Object.keys(expected).map((name) => `  - ${name}\n`).join('')}`);
const proxy = await listen();
const { code, said } = await run(`http://localhost:${proxy.address().port}/mcp`, baseline, folder);
proxy.closeAllConnections();
proxy.close();
rmSync(folder, { recursive: true });
const summary = said.split('\n').slice(-60).join('\n');
if (code !== 0) {
  console.error(process.env.VERBOSE ? said : summary);
  process.exit(1);
}
console.log(`mcp conformance: as expected (${Object.keys(expected).length} scenarios do not apply)`);
