// Collapsible JSON tree. Lazy: loads with the first one.
import "react-json-view-lite/dist/index.css";
import { JsonView, collapseAllNested, defaultStyles } from "react-json-view-lite";

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
  otherValue: "",
  punctuation: "json-mark",
  expandIcon: "json-expand",
  collapseIcon: "json-collapse",
  collapsedContent: "json-more",
  quotesForFieldNames: false,
};

/** Values with shorter JSON start expanded, up to four levels. */
const OPEN_UNITS = 2_000;

export default function JsonTree({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return <pre className="json-tree">{JSON.stringify(value)}</pre>;
  const isSmall = JSON.stringify(value).length < OPEN_UNITS;
  return (
    <JsonView
      data={value}
      style={styles}
      clickToExpandNode
      shouldExpandNode={isSmall ? (level) => level < 4 : collapseAllNested}
      aria-label="JSON"
    />
  );
}
