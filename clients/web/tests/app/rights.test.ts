// Controls that the page shows by the role.
import { expect, test } from "vitest";
import { type Right, hasRight, missingWords } from "../../src/app/state/rights.ts";
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

test("a missing right is said with what the person may do instead; a right that is there, or not known, is not", () => {
  expect(missingWords("runner", "edit")).toBe("Run only: you can’t edit this notebook.");
  expect(missingWords("viewer", "run")).toBe("View only: you can’t run this notebook.");
  expect(missingWords("commenter", "edit")).toBe("Comment only: you can’t edit this notebook.");
  expect(missingWords("author", "run")).toBe("Edit only: you can’t run this notebook.");
  expect(missingWords("runner", "run")).toBeUndefined();
  expect(missingWords("owner", "edit")).toBeUndefined();
  expect(missingWords(undefined, "edit")).toBeUndefined();
});
