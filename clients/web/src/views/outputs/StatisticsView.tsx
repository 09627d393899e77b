// Statistics of a column: type, missing values, extremes and most frequent values. States if they cover only the first rows.
import { X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { shortened } from "../../outputs/kernelTable.ts";
import { type Statistics, statisticsOf } from "../../outputs/statistics.ts";
import type { Table } from "../../outputs/table.ts";
import { type FrameInKernel, type Rows, refusalOf } from "./useRows.ts";

interface Props {
  table: Table;
  frame: FrameInKernel | undefined;
  rows: Rows;
  column: number;
  /** The table shows only some of its rows; the statistics are of all. */
  isFiltered: boolean;
  close: () => void;
}

export function StatisticsView({ table, frame, rows, column, isFiltered, close }: Props) {
  const isWhole = table.total === undefined && (table.columnsLeftOut ?? 0) === 0;
  const isAsked = !isWhole && frame !== undefined && !rows.problem?.isGone;
  const asked = useAsked(isAsked ? frame : undefined, column);
  const here = useMemo(() => statisticsOf(table, column), [table, column]);
  const statistics = isAsked && asked !== "gone" ? asked : here;
  const { name = "", note } = table.columns[column] ?? {};
  return (
    <section className="statistics small" aria-label={`Statistics of “${name || "index"}”`}>
      <div className="row">
        <strong>{name || "index"}</strong> {note && <span className="quiet">{note}</span>}
        <span className="grow" />
        <button className="button bare tiny" aria-label="Close statistics" title="Close" onClick={close} autoFocus>
          <X size={13} aria-hidden />
        </button>
      </div>
      {typeof statistics === "object" ? <Numbers statistics={statistics} /> : <p className="quiet">{statistics ?? "Loading…"}</p>}
      {isFiltered && typeof statistics === "object" && (statistics !== here || isWhole) && (
        <p className="quiet">Of all {rows.total.toLocaleString()} rows.</p>
      )}
      {statistics === here && !isWhole && (
        <p className="quiet">
          Of the first {table.rows.length.toLocaleString()} of {rows.total.toLocaleString()} rows.
        </p>
      )}
    </section>
  );
}

/** Returns the kernel's statistics, or an error message. */
function useAsked(frame: FrameInKernel | undefined, column: number): Statistics | string | "gone" | undefined {
  const [told, setTold] = useState<{ column: number; what: Statistics | string }>();
  useEffect(() => {
    if (!frame) return;
    let isOver = false;
    const { store, of, kernelSession } = frame;
    const kind = { summarize_column: { of, column } };
    const question = { code: "", cursor: 0, kind, ...(kernelSession && { kernel_session: kernelSession }) };
    void store.questions.ask(question).then((answer) => {
      if (isOver) return;
      const refused = answer && "column_summarized" in answer ? undefined : refusalOf(answer);
      const what =
        answer && "column_summarized" in answer ? answer.column_summarized : refused?.isGone ? "gone" : (refused?.text ?? "");
      setTold({ column, what });
    });
    return () => void (isOver = true);
  }, [frame, column]);
  return told?.column === column ? told.what : undefined;
}

function Numbers({ statistics }: { statistics: Statistics }) {
  const { rows, missing, distinct, min, max, mean, std, quartiles = [], top = [] } = statistics;
  const [low, middle, high] = quartiles;
  const parts: [string, unknown][] = [
    ["Rows", rows],
    ["Missing", missing],
    ["Distinct", distinct],
    ["Min", min],
    ["25 %", low],
    ["Median", middle],
    ["75 %", high],
    ["Max", max],
    ["Mean", mean],
    ["Std", std],
  ];
  const isTelling = top.some(({ count }) => count > 1);
  return (
    <dl>
      {parts
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{words(value)}</dd>
          </div>
        ))}
      {isTelling && (
        <div className="top">
          <dt>Most frequent</dt>
          <dd>{top.map(({ value, count }) => `${words(value)} (${count.toLocaleString()})`).join(" · ")}</dd>
        </div>
      )}
    </dl>
  );
}

function words(value: unknown): string {
  if (typeof value !== "number" || (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15)))
    return shortened(String(value));
  return value.toLocaleString(undefined, { maximumFractionDigits: 6 });
}
