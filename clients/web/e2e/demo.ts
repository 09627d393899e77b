// Demo notebook with text, a formula, code, a table, a chart, colours and an error. It includes outputs and needs no kernel.
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect } from "./server.ts";

const STATIONS = ["Harbour", "Old Town", "Airport", "Lighthouse"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const warmth = (station: number, month: number) => 9 + station * 0.7 - (8 - station) * Math.cos(((month - 0.6) * Math.PI) / 6);

const rows = MONTHS.flatMap((month, at) =>
  STATIONS.map((station, index) => ({ station, month, celsius: Math.round(warmth(index, at) * 10) / 10 })),
);

/** Table data as a kernel sends it with the HTML. */
const data = {
  version: 1,
  kind: "pandas.DataFrame",
  rows: rows.length,
  columns: [
    { name: "", type: "int64", kind: "integer", is_index: true },
    { name: "station", type: "str", kind: "text" },
    { name: "month", type: "str", kind: "text" },
    { name: "celsius", type: "float64", kind: "number" },
  ],
  data: [
    rows.map((_, at) => at),
    rows.map(({ station }) => station),
    rows.map(({ month }) => month),
    rows.map(({ celsius }) => celsius),
  ],
};

/** HTML table as pandas writes it. */
function table(): string {
  const head = `<tr style="text-align: right;"><th></th><th>station</th><th>month</th><th>celsius</th></tr>`;
  const line = (row: (typeof rows)[number], at: number) =>
    `<tr><th>${at}</th><td>${row.station}</td><td>${row.month}</td><td>${row.celsius.toFixed(1)}</td></tr>`;
  const style = "<style scoped>.dataframe tbody tr th { vertical-align: top; }</style>";
  return `<div>${style}<table border="1" class="dataframe"><thead>${head}</thead><tbody>${rows.map(line).join("")}</tbody></table></div>`;
}

const chart = {
  $schema: "https://vega.github.io/schema/vega-lite/v6.json",
  width: 520,
  height: 220,
  data: { values: rows },
  mark: { type: "line", point: true, interpolate: "monotone" },
  encoding: {
    x: { field: "month", type: "ordinal", sort: MONTHS, axis: { labelAngle: 0, title: null } },
    y: { field: "celsius", type: "quantitative", title: "°C" },
    color: { field: "station", type: "nominal", title: null },
  },
};

const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const FAILURE = {
  output_type: "error",
  ename: "KeyError",
  evalue: "'Fahrenheit'",
  traceback: [
    red("---------------------------------------------------------------------------"),
    `${red("KeyError")}                                  Traceback (most recent call last)`,
    `Cell \u001b[32mIn[4]\u001b[39m, line 2\n      1 wide = readings.pivot(index="month", columns="station")\n----> 2 wide["Fahrenheit"]\n`,
    `${red("KeyError")}: 'Fahrenheit'`,
  ],
};

const code = (source: string, execution_count: number, ...outputs: object[]) => ({
  ...{ cell_type: "code", source, execution_count, outputs, metadata: {} },
});
const text = (source: string) => ({ cell_type: "markdown", source, metadata: {} });
const result = (execution_count: number, data: object) => ({ output_type: "execute_result", execution_count, data, metadata: {} });

export const demo = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { title: "Temperatures by the sea", kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
  cells: [
    text(
      "# Temperatures by the sea\n\nFour stations, twelve months. The mean of a station is $\\bar{t} = \\frac{1}{n} \\sum_{i=1}^{n} t_i$; " +
        "**the lighthouse** is the mildest.",
    ),
    code(
      'import pandas as pd\n\nreadings = pd.read_csv("stations.csv")  # from the four loggers\nreadings',
      1,
      result(1, { "text/html": table(), "application/vnd.notarium.table+json": data }),
    ),
    text("## The year at a glance"),
    code(
      'import altair as alt\n\nalt.Chart(readings).mark_line(point=True).encode(x="month", y="celsius", color="station")',
      2,
      result(2, { "application/vnd.vegalite.v6+json": chart, "text/plain": "alt.Chart(...)" }),
    ),
    code('for station, group in readings.groupby("station"):\n    print(f"{station:12} {group.celsius.mean():5.1f} °C")', 3, {
      ...{ output_type: "stream", name: "stdout" },
      text: STATIONS.map((name, at) => `${name.padEnd(12)} \u001b[1m${(9 + at * 0.7).toFixed(1).padStart(5)}\u001b[0m °C\n`).join(
        "",
      ),
    }),
    code('wide = readings.pivot(index="month", columns="station")\nwide["Fahrenheit"]', 4, FAILURE),
  ].map((cell, at) => ({ id: `demo-${at}`, ...cell })),
};

/** Imports a notebook on the home page, which opens it. */
export async function bringIn(page: Page, notebook: object = demo, name = "Temperatures by the sea.ipynb"): Promise<void> {
  const file = { name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(notebook)) };
  await page.locator("input[type=file]").setInputFiles(file);
  await expect(page.locator(".cell").first()).toBeVisible({ timeout: 60_000 });
}

/** Small PNG: a colour gradient, without compression. */
export function picture(width = 96, height = 64): Buffer {
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows.set([40 + x, 90 + y, 220 - x], y * (width * 3 + 1) + 1 + x * 3);
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length, 0);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc32(body), body.length + 4);
    return framed;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}
