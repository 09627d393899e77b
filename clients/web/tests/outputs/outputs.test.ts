import { expect, test } from "vitest";
import { contrast } from "../../src/outputs/contrast.ts";
import { bokehScripts, needsFrame, shapeOf } from "../../src/outputs/mime.ts";
import { parts } from "../../src/outputs/text.ts";

test("ANSI colours become classes, and no escape is left", () => {
  const [red, plain, swapped] = parts("\u001b[1;31mred\u001b[0m plain \u001b[7;9mrgb\u001b[27;29m");
  expect([red?.text, red?.className]).toEqual(["red", "ansi-fg-red ansi-bold"]);
  expect([plain?.text, plain?.className]).toEqual([" plain ", ""]);
  expect(swapped?.className).toBe("ansi-fg-reversed ansi-bg-reversed ansi-strikethrough");
  expect(
    parts("a\u001b[2Kb\u001b]8;;http://x\u0007c\u001b[")
      .map(({ text }) => text)
      .join(""),
  ).toBe("abc");
});

/** Look of the second letter, after a sequence before the first and another between the two. */
const after = (first: string, then: string) => parts(`\u001b[${first}mA\u001b[${then}mB`)[1];

test("colours of 24 bit and of the palette end where the program ends them", () => {
  for (const colour of ["38;2;200;10;10", "38;5;160", "38:2::200:10:10", "38:2:200:10:10", "38:5:160", "35", "95"]) {
    const ground = colour.replace(/^3/, "4").replace("95", "105");
    for (const end of ["0", "", "39;49", "39;49;22"])
      expect([colour, end, after(`${colour};${ground}`, end)]).toEqual([colour, end, { text: "B", className: "" }]);
    expect(after(colour, "31")).toEqual({ text: "B", className: "ansi-fg-red" });
    expect(after(ground, "49;1")).toEqual({ text: "B", className: "ansi-bold" });
  }
  expect(after("1;38;5;196", "38;2;1;2")).toEqual({ ...after("1;38;5;196", "1"), text: "B" });
  expect(after("58;5;1", "58:2::1:2:3")).toEqual({ text: "B", className: "" });
  expect([after("0", "4:3")?.className, after("4", "4:0")?.className]).toEqual(["ansi-underline", ""]);
});

test("the palette of 256: names, the cube, greys; no two codes of a kind look alike", () => {
  const ground = (index: number) => parts(`\u001b[48;5;${index}mx`)[0]?.background;
  expect([ground(16), ground(21), ground(196), ground(67), ground(231), ground(232), ground(255)]).toEqual([
    "rgb(0, 0, 0)",
    "rgb(0, 0, 255)",
    "rgb(255, 0, 0)",
    "rgb(95, 135, 175)",
    "rgb(255, 255, 255)",
    "rgb(8, 8, 8)",
    "rgb(238, 238, 238)",
  ]);
  expect(new Set(Array.from({ length: 216 }, (_, at) => ground(16 + at))).size).toBe(216);
  expect(parts("\u001b[38;5;9mx")[0]?.className).toBe("ansi-fg-red");
  expect(parts("\u001b[38;5;8mx")[0]?.className).toBe("ansi-fg-grey");
});

test("any colour can be read on a light and on a dark page; one that can is not changed", () => {
  const channel = [0, 51, 102, 153, 204, 255];
  const grounds = { light: 0.82, dark: 0.03 };
  const luminance = (text: string) => {
    const [red = 0, green = 0, blue = 0] = (text.match(/\d+/g) ?? []).map((each) => {
      const part = Number(each) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (const red of channel)
    for (const green of channel)
      for (const blue of channel) {
        const own = `rgb(${red}, ${green}, ${blue})`;
        const color = parts(`\u001b[38;2;${red};${green};${blue}mx`)[0]?.color ?? "";
        const [light = "", dark = light] = color.match(/rgb\([^)]*\)/g) ?? [];
        expect([own, contrast(luminance(light), grounds.light) >= 4.4, contrast(luminance(dark), grounds.dark) >= 4.4]).toEqual([
          own,
          true,
          true,
        ]);
        expect([own, light === own]).toEqual([own, contrast(luminance(own), grounds.light) >= 4.5]);
        expect([own, dark === own]).toEqual([own, contrast(luminance(own), grounds.dark) >= 4.5]);
      }
  const [onOwn] = parts("\u001b[38;5;232;48;5;16mx");
  expect([onOwn?.color, onOwn?.background]).toEqual(["rgb(8, 8, 8)", "rgb(0, 0, 0)"]);
  expect([parts("\u001b[48;5;16mx")[0]?.color, parts("\u001b[48;5;231mx")[0]?.color]).toEqual([
    "rgb(255, 255, 255)",
    "rgb(0, 0, 0)",
  ]);
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

/** Styles of the tables themselves, as the libraries write them. */
const PANDAS = `<style scoped>
    .dataframe tbody tr th:only-of-type {
        vertical-align: middle;
    }

    .dataframe tbody tr th {
        vertical-align: top;
    }

    .dataframe thead tr th {
        text-align: left;
    }
</style>`;
const POLARS = `<style>
.dataframe > thead > tr,
.dataframe > tbody > tr {
  text-align: right;
  white-space: pre-wrap;
}
</style>`;

test("HTML with a look of its own goes into the frame, tables of pandas and Polars do not", () => {
  expect(needsFrame('<b style="color: red">x</b>')).toBe(true);
  expect(needsFrame("<style>#T_1 {}</style><table id=T_1></table>")).toBe(true);
  expect(needsFrame(`<div>${PANDAS}<table border="1" class="dataframe"><tr style="text-align: right;"></tr></table></div>`)).toBe(
    false,
  );
  expect(needsFrame(`<div>${POLARS}<small>shape: (1, 1)</small><table border="1" class="dataframe"></table></div>`)).toBe(false);
  expect(needsFrame('<table border="1" class="dataframe"><tr style="text-align: center;"></tr></table>')).toBe(false);
});

test("a Styler keeps its colours, also with the class of a data frame", () => {
  const styled = '<style type="text/css">\n#T_1_row0_col0 { background-color: red; }\n</style>\n<table id="T_1" class="dataframe">';
  expect(needsFrame(styled)).toBe(true);
  expect(needsFrame('<table class="dataframe"><td style="color: red">1</td></table>')).toBe(true);
  expect(needsFrame('<style>.dataframe td { background: red }</style><table class="dataframe">')).toBe(true);
  expect(needsFrame(`${PANDAS}<style>#T_1 { color: red }</style><table class="dataframe">`)).toBe(true);
  expect(needsFrame('<table class="dataframe"><th style="text-align: right; position: fixed">')).toBe(true);
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
