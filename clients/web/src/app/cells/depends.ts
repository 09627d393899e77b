// Consequences of deleting cells: the time of their runs, and names that other cells use.
import { parser } from "@lezer/python";
import type { Document } from "../../protocol/document.ts";
import { clock } from "../words/words.ts";

export interface Loss {
  /** Duration of the longest last run. */
  tookMs: number;
  users: { cell: string; names: string[] }[];
}

/** Shorter runs are not worth a warning. */
const LONG_MS = 5_000;
/** Limit of the code that is read, so that deleting in a large notebook stays fast. */
const MOST_UNITS = 400_000;

export function lossOf(document: Pick<Document, "order" | "cells" | "latestExecution">, cells: readonly string[]): Loss {
  const took = cells.map((id) => {
    const run = document.latestExecution(id);
    return run?.started_at && run.ended_at ? run.ended_at - run.started_at : 0;
  });
  const codeOf = (id: string) => (document.cells.get(id)?.cell_type === "code" ? (document.cells.get(id)?.source ?? "") : "");
  const others = document.order.filter((id) => !cells.includes(id));
  const defined = new Set(cells.flatMap((id) => [...namesOf(codeOf(id)).defined]));
  const users = [];
  let units = 0;
  for (const cell of defined.size > 0 ? others : []) {
    const code = codeOf(cell);
    units += code.length;
    if (units > MOST_UNITS) break;
    const names = [...namesOf(code).used].filter((name) => defined.has(name));
    if (names.length > 0) users.push({ cell, names });
  }
  return { tookMs: Math.max(0, ...took), users };
}

/** Examples: “its run took 4 min 0 s”, “`df` is used in cells 3 and 5”. */
export function lossWords({ tookMs, users }: Loss, order: readonly string[]): string[] {
  const numbers = users.map(({ cell }) => order.indexOf(cell) + 1).filter((number) => number > 0);
  const names = [...new Set(users.flatMap((user) => user.names))];
  const list = (words: (string | number)[]) =>
    words.length > 3
      ? `${words.slice(0, 2).join(", ")} and ${words.length - 2} more`
      : words.join(words.length === 2 ? " and " : ", ");
  return [
    ...(tookMs >= LONG_MS ? [`its run took ${clock(tookMs)}`] : []),
    ...(numbers.length > 0
      ? [
          `${list(names.map((name) => `“${name}”`))} ${names.length === 1 ? "is" : "are"} used in ` +
            `${numbers.length === 1 ? "cell" : "cells"} ${list(numbers)}`,
        ]
      : []),
  ];
}

export interface Names {
  /** Names bound at the top level. */
  defined: Set<string>;
  /** Names read before this code defines them. */
  used: Set<string>;
}

export type Node = ReturnType<typeof parser.parse>["topNode"];

/** Names by syntax only: the effects of `exec`, `globals()` and star imports are not found. */
export function namesOf(source: string): Names {
  const names: Names = { defined: new Set(), used: new Set() };
  if (source !== "") new Reader(source, names).read(parser.parse(source).topNode, new Set());
  return names;
}

const FUNCTIONS = new Set(["FunctionDefinition", "LambdaExpression"]);
const COMPREHENSION = /Comprehension/;

class Reader {
  constructor(
    readonly source: string,
    readonly names: Names,
  ) {}

  /** Reads a node; `local` has the names of the enclosing function, which the notebook does not see. */
  read(node: Node, local: Set<string>, isInside = false): void {
    if (node.name === "VariableName") return this.#use(this.#text(node), local);
    if (FUNCTIONS.has(node.name) || COMPREHENSION.test(node.name)) return this.#within(node, local, isInside);
    const bound = boundBy(node);
    const isBound = (child: Node) => bound.some(({ from }) => from === child.from);
    const others = node.name === "ImportStatement" ? [] : childrenOf(node).filter((child) => !isBound(child));
    // The right side of `=` is read before its targets are bound; a loop's body is read after its variable.
    for (const child of others) if (child.name !== "Body") this.read(child, local, isInside);
    for (const target of bound) {
      if (target.name !== "VariableName" && !isPattern(target)) this.read(target, local, isInside);
      else for (const name of variablesIn(target)) this.#define(this.#text(name), local, isInside);
    }
    const [inner, isWithin] = node.name === "ClassDefinition" ? [new Set(local), true] : [local, isInside];
    for (const child of others) if (child.name === "Body") this.read(child, inner, isWithin);
  }

  #within(node: Node, local: Set<string>, isInside: boolean): void {
    const [name] = node.name === "FunctionDefinition" ? node.getChildren("VariableName") : [];
    if (name) this.#define(this.#text(name), local, isInside);
    const inner = new Set([...local, ...allBound(node).map((each) => this.#text(each))]);
    for (const child of childrenOf(node)) if (child.from !== name?.from) this.read(child, inner, true);
  }

  #use(name: string, local: Set<string>): void {
    if (!local.has(name) && !this.names.defined.has(name)) this.names.used.add(name);
  }

  #define(name: string, local: Set<string>, isInside: boolean): void {
    if (isInside) local.add(name);
    else this.names.defined.add(name);
  }

  #text(node: Node): string {
    return this.source.slice(node.from, node.to);
  }
}

export function childrenOf(node: Node): Node[] {
  const all: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) all.push(child);
  return all;
}

/** Children of a statement that are its assignment targets. */
export function boundBy(node: Node): Node[] {
  const children = childrenOf(node);
  const upTo = (word: string) =>
    children
      .slice(
        0,
        children.findLastIndex(({ name }) => name === word),
      )
      .filter(isTarget);
  if (node.name === "AssignStatement") return upTo("AssignOp");
  if (node.name === "ClassDefinition") return node.getChildren("VariableName").slice(0, 1);
  if (node.name === "ImportStatement") return imported(children);
  if (node.name === "ForStatement" || COMPREHENSION.test(node.name)) return between(children, "for", "in");
  if (node.name === "ParamList")
    return children.filter(({ name }, at) => name === "VariableName" && children[at - 1]?.name !== "AssignOp");
  if (node.name === "WithStatement" || node.name === "TryStatement") return afterAs(children);
  if (node.name === "NamedExpression") return children.slice(0, 1);
  return [];
}

const isTarget = ({ name }: Node) => name !== "AssignOp" && name !== "TypeDef";
export const isPattern = ({ name }: Node) => ["TupleExpression", "ArrayExpression", "ParenthesizedExpression"].includes(name);

/** Names bound by an import: `import a.b as c, d` and `from m import e as f` bind c, d and f; `import a.b` binds `a`. */
function imported(children: Node[]): Node[] {
  const isFrom = children[0]?.name === "from";
  const start = isFrom ? children.findIndex(({ name }) => name === "import") : 0;
  return children
    .slice(start)
    .filter((node, at, all) => node.name === "VariableName" && all[at + 1]?.name !== "as" && all[at - 1]?.name !== ".");
}

function between(children: Node[], begin: string, end: string): Node[] {
  const found: Node[] = [];
  let isIn = false;
  for (const child of children) {
    if (child.name === begin) isIn = true;
    else if (child.name === end) isIn = false;
    else if (isIn) found.push(child);
  }
  return found;
}

const afterAs = (children: Node[]) => children.filter((_, at) => children[at - 1]?.name === "as");

export function variablesIn(node: Node): Node[] {
  return node.name === "VariableName"
    ? [node]
    : childrenOf(node)
        .filter((each) => each.name !== "MemberExpression")
        .flatMap(variablesIn);
}

/** All names that a function or comprehension binds, at any depth. */
export function allBound(node: Node): Node[] {
  const own = boundBy(node)
    .filter((each) => each.name === "VariableName" || isPattern(each))
    .flatMap(variablesIn);
  return [...own, ...childrenOf(node).flatMap(allBound)];
}
