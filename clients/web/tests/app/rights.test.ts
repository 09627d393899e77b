// Controls that the page shows by the role.
import { expect, test } from "vitest";
import { type Right, hasRight } from "../../src/app/state/rights.ts";
import type { Role } from "../../src/protocol/messages.ts";

const rightsOf = (role: Role | undefined) =>
  (["converse", "run", "edit", "organise"] satisfies Right[]).filter((right) => hasRight(role, right)).join(" ");

test("a role has the rights of its name, and no role or one of a later version has none", () => {
  expect(rightsOf("viewer")).toBe("");
  expect(rightsOf("commenter")).toBe("converse");
  expect(rightsOf("runner")).toBe("converse run");
  expect(rightsOf("author")).toBe("converse edit");
  expect(rightsOf("editor")).toBe("converse run edit organise");
  expect(rightsOf("owner")).toBe("converse run edit organise");
  expect(rightsOf(undefined)).toBe("");
  expect(rightsOf("constructor" as Role)).toBe("");
  expect(rightsOf("emperor" as Role)).toBe("");
});
