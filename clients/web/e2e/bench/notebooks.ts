// Notebooks of the benchmark, the same for every product.

function sourceOf(index: number): string {
  const line = (number: number) => `value_${index}_${number} = sum(range(${index}))  # line ${number}`;
  return Array.from({ length: 1 + (index % 12) }, (_, number) => line(number)).join("\n");
}

export const STREAM_SECONDS = 20;

/** Prints 10,000 consecutive numbers a second, in batches of a hundred, at a fixed rate. */
export const STREAM = `import time
began, line = time.time(), 0
while time.time() < began + ${STREAM_SECONDS}:
    print("\\n".join(str(line + n) for n in range(100)))
    line += 100
    time.sleep(max(0, began + line / 10_000 - time.time()))`;

export function sources(count: number): string[] {
  return Array.from({ length: count }, (_, index) => sourceOf(index));
}

export function nbformat(cells: string[]): object {
  const cell = (source: string, index: number) => ({
    ...{ id: `c${index}`, cell_type: "code", metadata: {}, outputs: [], execution_count: null },
    source,
  });
  const kernelspec = { name: "python3", display_name: "Python 3", language: "python" };
  return { nbformat: 4, nbformat_minor: 5, metadata: { kernelspec }, cells: cells.map(cell) };
}

/** Notebook in marimo's format: a Python program. */
export function marimo(cells: string[]): string {
  const indented = (source: string) => source.replace(/^/gm, "    ");
  const cell = (source: string) => `@app.cell\ndef _():\n${indented(source || "pass")}\n    return\n`;
  return ["import marimo\n\napp = marimo.App()\n", ...cells.map(cell), 'if __name__ == "__main__":\n    app.run()\n'].join("\n\n");
}
