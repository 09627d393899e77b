// Syntax highlighting for a cell's static source.
import { useEffect, useMemo, useState } from "react";
import { type Token, highlight } from "../../outputs/highlight.ts";
import type { CellType } from "../../protocol/messages.ts";

let highlightSql: ((source: string) => Token[]) | undefined;

export function useTokens(type: CellType, source: string): Token[] {
  const isSql = type === "sql";
  const [isReady, setIsReady] = useState(highlightSql !== undefined);
  useEffect(() => {
    if (!isSql || isReady) return;
    let isGone = false;
    void import("../../editor/sql.ts").then((module) => {
      highlightSql = module.highlightSql;
      if (!isGone) setIsReady(true);
    });
    return () => void (isGone = true);
  }, [isSql, isReady]);
  return useMemo(() => {
    if (type === "code") return highlight(source);
    return isSql && isReady && highlightSql ? highlightSql(source) : [{ text: source, className: "" }];
  }, [type, isSql, isReady, source]);
}
