// Checks that the parts of the page form no circle: the folders of `src/`, of `src/app` and of `src/views`, and the files of
// `src/app`. Type imports and lazy imports count.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const IMPORT = /(?:^\s*(?:import|export)\b[^;"]*?|\bimport\(\s*)"(\.[^"?]+)"/gm;

/** Files by the files that they import; paths are relative to the folder. */
export function importsIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => /\.tsx?$/.test(name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const of = (file) => [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, path]) => resolve(dirname(file), path));
  return new Map(files.map((file) => [relative(folder, file), of(file).map((path) => relative(folder, path))]));
}

/** The same imports between the entries of a folder: its subfolders and loose files. */
export function between(imports, folder = "") {
  const start = folder === "" ? "" : `${folder}/`;
  const entry = (file) => (file.startsWith(start) ? file.slice(start.length).split("/", 1)[0] : undefined);
  const all = new Map();
  for (const [file, others] of imports) {
    const from = entry(file);
    if (from === undefined || file.startsWith("..")) continue;
    const to = others.map(entry).filter((each) => each !== undefined && each !== ".." && each !== from);
    all.set(from, [...(all.get(from) ?? []), ...to]);
  }
  return all;
}

/** A circle as a path that ends where it begins; undefined if there is none. */
export function circleIn(imports) {
  const done = new Set();
  const visit = (node, path) => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of new Set(imports.get(node) ?? [])) {
      const circle = visit(next, [...path, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of imports.keys()) {
    const circle = visit(node, []);
    if (circle) return circle;
  }
  return undefined;
}

/** A sentence for each circle in the page's source. */
export function circlesIn(src) {
  const imports = importsIn(src);
  const ofApp = new Map([...imports].filter(([file]) => file.startsWith("app/")));
  const graphs = [
    ["the folders of src", between(imports)],
    ...["app", "views", "views/panels"].map((folder) => [`the folders of src/${folder}`, between(imports, folder)]),
    ["the files of src/app", ofApp],
  ];
  return graphs.flatMap(([what, graph]) => {
    const circle = circleIn(graph);
    return circle ? [`a circle between ${what}: ${circle.join(" → ")}`] : [];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = circlesIn(join(dirname(fileURLToPath(import.meta.url)), "../src"));
  for (const each of all) console.error(each);
  if (all.length > 0) process.exit(1);
}
