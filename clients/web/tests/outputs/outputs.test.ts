import { expect, test } from "vitest";
import { bokehScripts, needsFrame, shapeOf } from "../../src/outputs/mime.ts";
import { parts } from "../../src/outputs/text.ts";

test("ANSI colours become classes, true colours a colour, and no escape is left", () => {
  const [red, plain, rgb] = parts("\u001b[1;31mred\u001b[0m plain \u001b[38;2;1;2;3mrgb\u001b[0m");
  expect([red?.text, red?.className]).toEqual(["red", "ansi-fg-red ansi-bold"]);
  expect([plain?.text, plain?.className]).toEqual([" plain ", ""]);
  expect(rgb?.color).toBe("rgb(1, 2, 3)");
});

test("the richest form that is known is shown", () => {
  const display = (data: object) => shapeOf({ output_type: "display_data", data, metadata: {} }).kind;
  expect(display({ "text/plain": "1" })).toBe("text");
  expect(display({ "text/plain": "<Figure>", "image/png": "AA==\n" })).toBe("image");
  expect(display({ "text/html": ["<table>", "<tr></tr></table>"], "text/plain": "df" })).toBe("html");
  expect(display({ "application/json": { a: 1 } })).toBe("json");
  expect(display({ "application/x-new": 1 })).toBe("unknown");
  expect(display({ "text/latex": "$x$", "image/png": "AA==" })).toBe("latex");
  expect(display({ "application/vnd.plotly.v1+json": { data: [] }, "text/html": "<div></div>" })).toBe("frame");
  expect(display({ "application/vnd.new+json": { a: 1 } })).toBe("json");
  expect(display({ "application/vnd.new+json": { a: 1 }, "text/plain": "new" })).toBe("text");
  expect(display({ "application/pdf": "AA==" })).toBe("file");
  expect(shapeOf({ output_type: "stream", name: "stderr", text: ["a\n", "b"] })).toEqual({
    kind: "text",
    text: "a\nb",
    stream: "stderr",
  });
  expect(shapeOf({ output_type: "error", ename: "ValueError", evalue: "no", traceback: ["x", "y"] })).toMatchObject({
    kind: "error",
    traceback: "x\ny",
  });
  expect(shapeOf(undefined).kind).toBe("unknown");
});

test("charts go to the frame as data, sound and film as elements that hold them", () => {
  const drawing = (data: object) => {
    const shape = shapeOf({ output_type: "display_data", data, metadata: {} });
    return shape.kind === "frame" ? shape.drawing : undefined;
  };
  expect(drawing({ "application/vnd.vegalite.v6+json": { mark: "bar" } })).toEqual({
    kind: "vega",
    mode: "vega-lite",
    spec: { mark: "bar" },
  });
  expect(drawing({ "application/vnd.vega.v5+json": {} })).toMatchObject({ mode: "vega" });
  expect(drawing({ "audio/wav": 'QUJD"><script>' })).toEqual({
    kind: "html",
    html: '<audio controls src="data:audio/wav;base64,QUJDscript"></audio>',
  });
  expect(
    drawing({ "application/vnd.bokehjs_exec.v0+json": "", "text/html": "<div>", "application/javascript": "1" }),
  ).toMatchObject({ kind: "bokeh", script: "1" });
  expect(bokehScripts({ data: { "application/vnd.bokehjs_load.v0+json": "", "application/javascript": "load" } })).toBe("load");
  expect(bokehScripts({ data: { "application/javascript": "load" } })).toBeUndefined();
});

test("HTML with a look of its own goes into the frame, tables of pandas and Polars do not", () => {
  expect(needsFrame('<b style="color: red">x</b>')).toBe(true);
  expect(needsFrame("<style>#T_1 {}</style><table id=T_1></table>")).toBe(true);
  expect(
    needsFrame(
      '<div><style scoped>x</style><table border="1" class="dataframe"><tr style="text-align: right;"></tr></table></div>',
    ),
  ).toBe(false);
});

test("Altair's HTML, which asks another host for its libraries, is drawn as the chart that it holds", () => {
  const html = `<div id="altair-viz"></div><script>(function(spec, embedOpt){vegaEmbed(el, spec, embedOpt);\n})({"mark": {"type": "bar"}, "data": {"name": "a)}"}}, {"mode": "vega-lite"});\n</script>`;
  const shape = shapeOf({ output_type: "display_data", data: { "text/html": html } });
  expect(shape).toMatchObject({ kind: "frame", drawing: { kind: "vega", mode: "vega-lite", spec: { mark: { type: "bar" } } } });
});

test("what could run goes into the frame", () => {
  for (const html of [
    "<script>1</script>",
    "<img src=x onerror=alert(1)>",
    "<IFRAME src=x>",
    "<svg onload=x>",
    "<form action=x>",
  ]) {
    expect([html, needsFrame(html)]).toEqual([html, true]);
  }
  expect(needsFrame("<table><tr><td>script</td></tr></table>")).toBe(false);
});
