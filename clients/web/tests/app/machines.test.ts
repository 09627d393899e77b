// Machines of agents in words, and labels as people write them.
import { describe, expect, it } from "vitest";
import { labelWords, labelsOf, machineWords, waitWords } from "../../src/app/words/machineWords.ts";

const GPU2 = {
  id: "a",
  name: "gpu2",
  connected: true,
  machine: { cores: 64, memory_bytes: 512e9, gpus: [{ name: "A100", memory_bytes: 80e9 }] },
};

describe("machines", () => {
  it("are told with their load", () => {
    const load = { cpu_percent: 12, memory_used_bytes: 256e9, gpus: [{ busy_percent: 35, memory_used_bytes: 0 }] };
    expect(machineWords({ ...GPU2, load })).toBe("64 cores (12 % used), 512 GB (50 % used), A100 80 GB (35 % used)");
    expect(machineWords(GPU2)).toBe("64 cores, 512 GB, A100 80 GB");
    expect(machineWords({ ...GPU2, connected: false })).toBe("Not connected");
    expect(machineWords({ id: "old", name: "old", connected: true })).toBe("");
  });

  it("have labels that are read as they are written", () => {
    expect(labelsOf("gpu=a100, place=cellar")).toEqual({ gpu: "a100", place: "cellar" });
    expect(labelsOf("")).toEqual({});
    for (const wrong of ["gpu", "gpu=", "=a100", "a=b=c", "gpu=a+b"]) expect(labelsOf(wrong), wrong).toBeUndefined();
    expect(labelWords({ gpu: "a100", place: "cellar" })).toBe("gpu=a100, place=cellar");
  });

  it("are waited for with a sentence", () => {
    expect(waitWords({ cause: "no_such_labels", detail: "no connected agent has gpu=a100" })).toBe(
      "No connected agent has gpu=a100.",
    );
  });
});
