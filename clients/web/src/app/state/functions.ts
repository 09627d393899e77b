// Form fields from a function's JSON schema, and the arguments from what is typed there.
export type Schema = Record<string, unknown>;

export interface Field {
  name: string;
  /** Name with those of the enclosing objects: `at.x`, as in the server's refusals. */
  path: string;
  kind: "text" | "date" | "number" | "choice" | "object" | "json";
  /** Fields of an object. */
  fields: Field[];
  /** The expected value in words. */
  words: string;
  choices: unknown[];
  isRequired: boolean;
  /** Empty means null. */
  isNullable: boolean;
  about: string;
  /** Initial text. */
  initial: string;
  /** Example of a value that is typed as JSON. */
  example: string;
  schema: Schema;
}

const NONE: Schema = {};

function resolved(root: Schema, schema: Schema): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
  const steps = $ref.slice(2).split("/");
  const found = steps.reduce<unknown>((at, step) => (at as Schema | undefined)?.[step], root);
  return {
    ...((found as Schema | undefined) ?? NONE),
    ...Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$ref")),
  };
}

/** The only type besides null, if there is exactly one. */
function single(root: Schema, schema: Schema): { schema: Schema; isNullable: boolean } {
  const own = resolved(root, schema);
  const choices = (own["anyOf"] ?? own["oneOf"]) as Schema[] | undefined;
  if (!choices) return { schema: own, isNullable: own["type"] === "null" };
  const others = choices.map((each) => resolved(root, each)).filter((each) => each["type"] !== "null");
  const isNullable = others.length < choices.length;
  const [first] = others;
  return { schema: others.length === 1 && first ? { ...own, anyOf: undefined, ...first } : own, isNullable };
}

/** Nesting limit of fields, because a recursive type has no end. */
const MAX_DEPTH = 3;

interface Place {
  root: Schema;
  path: string[];
  /** The function's default value. */
  preset: unknown;
}

export const fieldsOf = (root: Schema): Field[] => inside(root, { root, path: [], preset: undefined });

function inside(object: Schema, { root, path, preset }: Place): Field[] {
  const properties = (object["properties"] ?? {}) as Record<string, Schema>;
  const required = new Set((object["required"] ?? []) as string[]);
  const presets = (typeof preset === "object" ? (preset ?? {}) : {}) as Record<string, unknown>;
  return Object.entries(properties).map(([name, given]) => {
    const { schema, isNullable } = single(root, given);
    const at = { root, path: [...path, name], preset: presets[name] ?? given["default"] };
    const fields = hasFields(schema) && path.length < MAX_DEPTH ? inside(schema, at) : [];
    const choices =
      schema["type"] === "boolean" ? [true, false] : Array.isArray(schema["enum"]) ? (schema["enum"] as unknown[]) : [];
    const type = String(schema["type"] ?? "");
    const kind =
      choices.length > 0
        ? "choice"
        : type === "string"
          ? schema["format"] === "date"
            ? "date"
            : "text"
          : type === "integer" || type === "number"
            ? "number"
            : fields.length > 0
              ? "object"
              : "json";
    const about = given["description"] ?? schema["description"];
    const isRequired = required.has(name);
    const field = { name, path: at.path.join("."), kind, fields, choices, isNullable, schema, isRequired } as const;
    const words = {
      text: "a text",
      date: "a date",
      number: type === "integer" ? "a whole number" : "a number",
      choice: "one of these",
      object: "an object",
      json: jsonWords(type),
    }[kind];
    return {
      ...field,
      words,
      about: typeof about === "string" ? about : "",
      initial: kind === "object" ? "" : shown(field, at.preset),
      example: kind === "json" ? exampleOf(schema) : "",
    };
  });
}

/** Objects with arbitrary names, or without names, are typed as JSON instead. */
function hasFields(schema: Schema): boolean {
  return schema["type"] === "object" && !schema["additionalProperties"] && Object.keys(schema["properties"] ?? {}).length > 0;
}

/** Initial texts of the form by path. */
export function initially(fields: Field[]): Record<string, string> {
  return Object.fromEntries(leaves(fields).map(({ path, initial }) => [path, initial]));
}

function leaves(fields: Field[]): Field[] {
  return fields.flatMap((field) => (field.kind === "object" ? leaves(field.fields) : [field]));
}

/** Example in JSON: an object with its field names, or a list. */
function exampleOf(schema: Schema): string {
  if (schema["type"] === "array") return "[…]";
  const names = Object.keys((schema["properties"] ?? {}) as object);
  return schema["type"] === "object" ? `{${names.map((name) => `"${name}": …`).join(", ") || "…"}}` : "";
}

function jsonWords(type: string): string {
  return type === "array" ? "a list, as JSON" : type === "object" ? "an object, as JSON" : "JSON";
}

function shown({ kind, choices }: Pick<Field, "kind" | "choices">, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (kind === "choice") return String(choices.findIndex((choice) => choice === value));
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface Filled {
  arguments: Record<string, unknown>;
  /** Errors by path. */
  errors: Record<string, string>;
}

/** Arguments from the typed texts; empty fields are left out. */
export function filled(fields: Field[], texts: Record<string, string>): Filled {
  const result: Filled = { arguments: {}, errors: {} };
  for (const field of fields) {
    const text = texts[field.path] ?? "";
    const isEmpty = field.kind === "object" ? isUntouched(field, texts) : text === "";
    if (isEmpty && !(["text", "object"].includes(field.kind) && field.isRequired && !field.isNullable)) {
      if (field.isRequired && field.isNullable) result.arguments[field.name] = null;
      else if (field.isRequired) result.errors[field.path] = "Required";
      continue;
    }
    if (field.kind === "object") {
      const within = filled(field.fields, texts);
      result.arguments[field.name] = within.arguments;
      Object.assign(result.errors, within.errors);
      continue;
    }
    try {
      result.arguments[field.name] = valueOf(field, text);
    } catch (error) {
      result.errors[field.path] = (error as Error).message;
    }
  }
  return result;
}

/** True for an object whose fields are all empty, or all have their initial texts. */
function isUntouched({ fields }: Field, texts: Record<string, string>): boolean {
  const all = leaves(fields);
  return all.every(({ path }) => !texts[path]) || all.every(({ path, initial }) => (texts[path] ?? "") === initial);
}

function valueOf({ kind, choices, schema, words }: Field, text: string): unknown {
  if (kind === "choice") return choices[Number(text)];
  if (kind === "text" || kind === "date") return text;
  if (kind === "number") return numberOf(schema, text, words);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`Must be ${words}`);
  }
  const isOther = (schema["type"] === "array") !== Array.isArray(value) && ["array", "object"].includes(String(schema["type"]));
  if (isOther) throw new Error(`Must be ${words}`);
  return value;
}

function numberOf(schema: Schema, text: string, words: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || text.trim() === "" || (schema["type"] === "integer" && !Number.isInteger(value)))
    throw new Error(`Must be ${words}`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && BigInt(value) !== integerOf(text))
    throw new Error("This page would round so large a number: call the function in a cell");
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum !== undefined && value < minimum) throw new Error(`At least ${minimum}`);
  if (maximum !== undefined && value > maximum) throw new Error(`At most ${maximum}`);
  return value;
}

function integerOf(text: string): bigint | undefined {
  return /^\s*-?\d+\s*$/.test(text) ? BigInt(text) : undefined;
}

/** Field of an argument that the server refused: `at.x`, or of a list `rows[2].name`. */
export function fieldOfRefusal(fields: Field[], argument: string): string | undefined {
  const place = argument.split("[")[0];
  return leaves(fields).find(({ path }) => path === place || place?.startsWith(`${path}.`))?.path;
}
