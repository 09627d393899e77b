// Look of code in editors and in highlighted code; both use the same classes.
import { syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

export const highlighting = syntaxHighlighting(classHighlighter);

export const theme = EditorView.theme({
  "&": { backgroundColor: "transparent", fontSize: "var(--code-size)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontVariantLigatures: "none", lineHeight: "var(--code-line)", overflowX: "auto" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-gutters": { border: "0", backgroundColor: "transparent", color: "var(--quiet)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "38px", padding: "0" },
  "&.numbered .cm-line": { paddingLeft: "8px" },
  ".cm-fat-cursor": { backgroundColor: "var(--accent) !important", color: "var(--on-accent) !important" },
  "&:not(.cm-focused) .cm-fat-cursor": { outline: "1px solid var(--accent) !important", backgroundColor: "transparent !important" },
  ".cm-panels": { borderTop: "1px solid var(--line)", backgroundColor: "var(--sunken)", color: "var(--text)" },
  ".cm-vim-panel": { padding: "2px 12px", font: "12px var(--mono)" },
  ".cm-cursor": { borderLeftColor: "var(--text)", borderLeftWidth: "1.5px" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "light-dark(#dbe4ff, #2f3b69) !important" },
  ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "8px", backgroundColor: "var(--surface)", color: "var(--text)" },
  ".cm-tooltip.cm-tooltip-hover": { padding: "0" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft) !important", outline: "1px solid var(--strong-line)" },
});
