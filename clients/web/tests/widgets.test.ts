// Messages from the frame of widgets, and the widgets that it receives.
import { expect, test } from "vitest";
import { frameMessage } from "../src/outputs/frame.ts";
import { closure, savedWidgets } from "../src/outputs/widgets.ts";

const update = { id: 1, comm_id: "s", data: { method: "update", state: { value: 4 } }, buffers: [] };
const heard = (comm: unknown) => frameMessage({ comm });

test("only what a widget would say is heard", () => {
  expect(heard(update)).toEqual({ kind: "comm", message: update });
  expect(heard({ ...update, buffers: [new Uint8Array([1, 2]), new ArrayBuffer(1)] })).toMatchObject({
    message: { buffers: ["AQI=", "AA=="] },
  });
  const loop: Record<string, unknown> = { method: "update" };
  loop["self"] = loop;
  for (const comm of [
    null,
    "update",
    { ...update, id: "1" },
    { ...update, comm_id: 7 },
    { ...update, data: [] },
    { ...update, data: { method: "comm_open" } },
    { ...update, data: { state: {} } },
    { ...update, data: loop },
    { ...update, data: { method: "custom", content: "x".repeat(2 << 20) } },
    { ...update, buffers: "AA==" },
    { ...update, buffers: ["AA=="] },
    { ...update, buffers: Array.from({ length: 65 }, () => new ArrayBuffer(0)) },
    { ...update, buffers: [new ArrayBuffer(3 << 20)] },
  ]) {
    expect(heard(comm)).toBeUndefined();
  }
});

test("a view gets the widgets that it is made of, and the links between them with what those link", () => {
  const all = new Map(
    Object.entries({
      box: { state: { children: ["IPY_MODEL_a"] } },
      a: { state: { layout: "IPY_MODEL_l" } },
      l: { state: {} },
      b: { state: {} },
      link: { state: { _model_name: "LinkModel", source: ["IPY_MODEL_a", "value"], target: ["IPY_MODEL_b", "value"] } },
      other: { state: {} },
    }),
  );
  expect([...closure(all, "box")].sort()).toEqual(["a", "b", "box", "l", "link"]);
  expect([...closure(all, "none")]).toEqual([]);
});

test("what a file keeps is read, and what is none is passed over", () => {
  const state = { s: { model_name: "IntSliderModel", state: { value: 3 }, buffers: [{ path: ["v"], data: "AA==" }] }, odd: 7 };
  const saved = savedWidgets({ widgets: { "application/vnd.jupyter.widget-state+json": { state } } });
  expect([...saved.keys()]).toEqual(["s"]);
  expect(saved.get("s")).toMatchObject({
    state: { _model_name: "IntSliderModel", value: 3 },
    buffers: [{ path: ["v"], base64: "AA==" }],
  });
  expect(savedWidgets(null).size + savedWidgets({ widgets: 3 }).size).toBe(0);
});
