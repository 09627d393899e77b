// Checks that effects and refs return nothing or a cleanup function. A DOM method typed `void` may return a Promise
// (`scrollIntoView` of Chromium does): React would call it as the cleanup and crash the page.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vite";

const EFFECTS = new Set(["useEffect", "useLayoutEffect", "useInsertionEffect"]);
const isFunction = (node) => node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression";
/** DOM methods whose result is no cleanup function. */
const ACTS = /^(focus|blur|select|scroll\w*|click|play|pause|show\w*|requestFullscreen|animate|setAttribute|remove|append)$/;

function acts(node) {
  const call = node?.type === "ChainExpression" ? node.expression : node;
  return call?.type === "CallExpression" && ACTS.test(call.callee?.property?.name ?? "");
}

/** Returns the error of a callback. Allowed: `() => void x`, `() => () => x`, or a block that returns a cleanup function. */
function complaint(callback) {
  if (!isFunction(callback)) return undefined;
  if (callback.async) return "an async function returns a Promise";
  const { body } = callback;
  if (body.type === "BlockStatement") return returned(body).some(acts) ? "it returns what a method of the DOM gives" : undefined;
  const isNothing = body.type === "UnaryExpression" && body.operator === "void";
  return isNothing || isFunction(body) ? undefined : "it returns a value: write a block, `void`, or `return` in a block";
}

function returned(node, found = []) {
  if (Array.isArray(node)) for (const each of node) returned(each, found);
  else if (node && typeof node === "object" && !isFunction(node) && node.type !== "FunctionDeclaration") {
    if (node.type === "ReturnStatement") found.push(node.argument);
    for (const value of Object.values(node)) if (value && typeof value === "object") returned(value, found);
  }
  return found;
}

function callbackIn(node) {
  if (node.type === "CallExpression" && EFFECTS.has(node.callee.name ?? node.callee.property?.name)) return node.arguments[0];
  if (node.type === "JSXAttribute" && node.name.name === "ref") return node.value?.expression;
  return undefined;
}

export function complaintsIn(source, file) {
  const complaints = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!node || typeof node !== "object") return;
    const callback = callbackIn(node);
    const why = complaint(callback);
    if (why) complaints.push(`${file}:${source.slice(0, callback.start).split("\n").length}: ${why}`);
    for (const value of Object.values(node)) if (value && typeof value === "object") visit(value);
  };
  visit(parseAst(source, { lang: file.endsWith("x") ? "tsx" : "ts" }).body);
  return complaints;
}

const web = join(dirname(fileURLToPath(import.meta.url)), "..");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readdirSync(join(web, "src"), { recursive: true, withFileTypes: true })
    .filter(({ name }) => /\.tsx?$/.test(name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const all = files.flatMap((file) => complaintsIn(readFileSync(file, "utf8"), relative(web, file)));
  for (const each of all) console.error(each);
  if (all.length > 0) process.exit(1);
}
