// Collapsible JSON tree. Lazy: loads with the first one.
import "react-json-view-lite/dist/index.css";
import { useMemo } from "react";
import { JsonView, collapseAllNested, defaultStyles } from "react-json-view-lite";
import { exactJson, withExact } from "../../protocol/exactJson.ts";

/** Style classes that support light and dark themes. */
const styles = {
  ...defaultStyles,
  container: "json-tree",
  label: "json-name",
  clickableLabel: "json-name json-open",
  nullValue: "tok-keyword",
  undefinedValue: "tok-keyword",
  numberValue: "tok-number",
  booleanValue: "tok-bool",
  stringValue: "tok-string",
  otherValue: "tok-number",
  punctuation: "json-mark",
  expandIcon: "json-expand",
  collapseIcon: "json-collapse",
  collapsedContent: "json-more",
  quotesForFieldNames: false,
};

/** Values with shorter JSON start expanded, up to four levels. */
const OPEN_UNITS = 2_000;

/** Integer beyond 2^53. The tree writes dates by `toISOString`, and JSON has none. */
class Digits extends Date {
  readonly #text: string;

  constructor(text: string) {
    super(0);
    this.#text = text;
  }

  override toISOString(): string {
    return this.#text;
  }
}

export default function JsonTree({ value }: { value: unknown }) {
  if (typeof value === "object" && value !== null) return <Tree value={value} />;
  return <pre className="json-tree">{exactJson(value)}</pre>;
}

function Tree({ value }: { value: object }) {
  const isSmall = useMemo(() => JSON.stringify(value).length < OPEN_UNITS, [value]);
  const data = useMemo(() => withExact(value, (text) => new Digits(text)), [value]);
  return (
    <JsonView
      data={data}
      style={styles}
      clickToExpandNode
      shouldExpandNode={isSmall ? (level) => level < 4 : collapseAllNested}
      aria-label="JSON"
    />
  );
}
