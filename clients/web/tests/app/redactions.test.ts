import { expect, test } from "vitest";
import { previewWords, redactedIn, redactionWords, withBlocks } from "../../src/app/words/redactions.ts";
import { steps } from "../../src/app/words/steps.ts";
import type { EventMessage } from "../../src/protocol/messages.ts";

const event = (version: number, type: string, payload: object) =>
  ({
    ...{ version, id: `e${version}`, type, schema: 1, correlation_id: `c${version}`, payload },
    ...{ actor: { kind: "user", id: "ann" }, recorded_at: version },
  }) as unknown as EventMessage;

const redaction = event(13, "ContentRedacted", {
  reason: "a key was in it",
  target: { text: {} },
  redactions: [3, 7, 12].map((version) => ({ version, stand_in: "00" })),
});

test("the history names a redaction with its count and reason, as a kind of its own", () => {
  const [step] = steps([event(12, "CellSourceEdited", { cell_id: "a" }), redaction]);
  expect(step?.words).toEqual(["redacted content of 3 events: a key was in it"]);
  expect([...(step?.kinds ?? [])]).toEqual(["Redactions"]);
  expect(redactionWords([event(1, "CellInserted", {})])).toBeUndefined();
});

test("a redacted event has the latest redaction's author and reason", () => {
  const again = event(20, "ContentRedacted", { reason: "more", target: {}, redactions: [{ version: 7 }] });
  const redacted = redactedIn([redaction, again]);
  expect([redacted.get(3)?.reason, redacted.get(7)?.reason, redacted.get(4)]).toEqual(["a key was in it", "more", undefined]);
});

test("a preview counts events and outputs, and lists a few versions", () => {
  const of = (versions: number[], blobs = 0) => previewWords({ versions, blobs, epoch: 0 });
  expect(of([5])).toBe("1 event (version 5)");
  expect(of([3, 7, 12], 1)).toBe("3 events (versions 3, 7 and 12), and 1 stored output");
  expect(of([1, 2, 3, 4, 5, 90], 2)).toBe("6 events (versions 1 to 90), and 2 stored outputs");
});

test("removed stretches are apart from the text around them", () => {
  expect(withBlocks("key = ████ # ok")).toEqual([
    { text: "key = ", isRedacted: false },
    { text: "████", isRedacted: true },
    { text: " # ok", isRedacted: false },
  ]);
  expect(withBlocks("")).toEqual([]);
});
