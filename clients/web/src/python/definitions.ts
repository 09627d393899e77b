// Finds the definition of a name in a notebook's cells, reactive or not. Reads only the Python syntax, like `depends.ts`.
import { parser } from "@lezer/python";
import { type Node, allBound, boundBy, childrenOf, isPattern, variablesIn } from "../app/cells/depends.ts";

export interface CodeCell {
  id: string;
  source: string;
}

export interface Definition {
  cell: string;
  from: number;
  to: number;
}

type Place = Pick<Definition, "from" | "to">;

/** Definition of the name at a position: in the function around it, else the nearest cell above, else below. */
export function definitionOf(cells: readonly CodeCell[], cell: string, at: number): Definition | undefined {
  const index = cells.findIndex(({ id }) => id === cell);
  const here = cells[index];
  if (!here) return undefined;
  const { topNode } = parser.parse(here.source);
  const node = nameAt(topNode, at);
  if (!node) return undefined;
  const name = here.source.slice(node.from, node.to);
  if (node.name === "PropertyName") return ofClass(cells, index, name);
  const local = within(node, here.source, name);
  if (local) return { cell, ...local };
  const own = topLevel(topNode, here.source).filter(([text]) => text === name);
  const places = own.map(([, place]) => place);
  const before = places.findLast(({ from }) => from <= node.from);
  const isItself = before?.from === node.from;
  if (before && !isItself) return { cell, ...before };
  return nearest(cells, index, name) ?? (before && { cell, ...before }) ?? (places[0] && { cell, ...places[0] });
}

function nameAt(top: Node, at: number): Node | undefined {
  const nodes = [top.resolve(at, 1), top.resolve(at, -1)];
  return nodes.find(({ name }) => name === "VariableName" || name === "PropertyName");
}

/** Searches the enclosing functions and comprehensions, innermost first. */
function within(node: Node, source: string, name: string): Place | undefined {
  for (let around = node.parent; around; around = around.parent) {
    const isScope = /^(FunctionDefinition|LambdaExpression)$|Comprehension/.test(around.name);
    if (!isScope) continue;
    const isOwnName = around.name === "FunctionDefinition" && around.getChild("VariableName")?.from === node.from;
    if (isOwnName) continue;
    const bound = [...allBound(around), ...functionsIn(around)].find((each) => source.slice(each.from, each.to) === name);
    if (bound) return { from: bound.from, to: bound.to };
  }
  return undefined;
}

/** Names of functions nested in a node. */
function functionsIn(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => {
    const own = child.name === "FunctionDefinition" ? child.getChildren("VariableName").slice(0, 1) : [];
    return [...own, ...functionsIn(child)];
  });
}

function nearest(cells: readonly CodeCell[], index: number, name: string): Definition | undefined {
  const order = [...cells.slice(0, index).reverse(), ...cells.slice(index + 1)];
  for (const { id, source } of order) {
    if (!source.includes(name)) continue;
    const all = topLevel(parser.parse(source).topNode, source).filter(([text]) => text === name);
    const place = (cells.findIndex((cell) => cell.id === id) < index ? all.at(-1) : all[0])?.[1];
    if (place) return { cell: id, ...place };
  }
  return undefined;
}

/** Definition of a method: the nearest of that name, because the syntax does not tell the class. */
function ofClass(cells: readonly CodeCell[], index: number, name: string): Definition | undefined {
  const order = [cells[index], ...cells.slice(0, index).reverse(), ...cells.slice(index + 1)].filter((cell) => cell !== undefined);
  for (const { id, source } of order) {
    if (!source.includes(name)) continue;
    const found = methods(parser.parse(source).topNode).find((each) => source.slice(each.from, each.to) === name);
    if (found) return { cell: id, from: found.from, to: found.to };
  }
  return undefined;
}

function methods(node: Node, isInClass = false): Node[] {
  return childrenOf(node).flatMap((child) => {
    const own = isInClass && child.name === "FunctionDefinition" ? child.getChildren("VariableName").slice(0, 1) : [];
    return [...own, ...methods(child, child.name === "ClassDefinition" || (isInClass && child.name !== "FunctionDefinition"))];
  });
}

/** Names that a cell binds at its top level, in order. */
function topLevel(node: Node, source: string): [string, Place][] {
  if (/^LambdaExpression$|Comprehension/.test(node.name)) return [];
  if (node.name === "FunctionDefinition")
    return node
      .getChildren("VariableName")
      .slice(0, 1)
      .map((each) => named(each, source));
  const own = boundBy(node)
    .filter((each) => each.name === "VariableName" || isPattern(each))
    .flatMap(variablesIn)
    .map((each) => named(each, source));
  if (node.name === "ClassDefinition") return own;
  return [...own, ...childrenOf(node).flatMap((child) => topLevel(child, source))];
}

function named({ from, to }: Node, source: string): [string, Place] {
  return [source.slice(from, to), { from, to }];
}
