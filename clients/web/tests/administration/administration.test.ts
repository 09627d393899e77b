import { describe, expect, test } from "vitest";
import { routeOf } from "../../src/app/session/route.ts";
import type { NodeStatus, User } from "../../src/protocol/rest.ts";
import { machinesOf } from "../../src/views/administration/agentLoads.ts";
import { accountsOf, actorWords, auditWords } from "../../src/views/administration/auditWords.ts";
import { amountOf, capName, fixedWords, spenderWords } from "../../src/views/administration/capWords.ts";
import { aboutWords } from "../../src/views/administration/Nodes.tsx";
import { monthsBefore } from "../../src/views/administration/months.ts";
import { allUsers, byName, found, nameOf } from "../../src/views/administration/people.ts";
import type { Rest } from "../../src/transport/rest.ts";

const user = (id: string, name: string, more: Partial<User> = {}): User => ({
  id,
  name,
  login: name.toLowerCase().replaceAll(" ", "."),
  is_admin: false,
  has_password: true,
  created_at: 0,
  ...more,
});
const ann = user("A", "Ann Berg", { is_admin: true });
const zoe = user("Z", "Zoë Quist", { has_password: false });
const old = user("O", "Olaf", { deactivated_at: 3 });
const names = nameOf([ann, zoe, old]);

describe("routes", () => {
  test("the page and its sections have addresses", () => {
    expect(routeOf("#/administration")).toEqual({ name: "administration", section: undefined });
    expect(routeOf("#/administration/audit")).toEqual({ name: "administration", section: "audit" });
    expect(routeOf("#/n/x")).toMatchObject({ name: "notebook" });
  });
});

describe("people", () => {
  test("all pages are loaded, ordered by name", async () => {
    const all = Array.from({ length: 2_300 }, (_, index) => user(String(index).padStart(5, "0"), `Person ${2_300 - index}`));
    const asked: string[] = [];
    const get = (path: string) => {
      asked.push(path);
      const after = /after=(\d+)/.exec(path)?.[1];
      const from = after === undefined ? 0 : Number(after) + 1;
      return Promise.resolve(all.slice(from, from + 1_000));
    };
    const users = await allUsers({ get } as unknown as Rest);
    expect(asked).toHaveLength(3);
    expect(users).toHaveLength(2_300);
    expect(users[0]?.name).toBe("Person 1");
  });

  test("search ignores accents and case, and wants every word", () => {
    const ids = (text: string, kind: Parameters<typeof found>[2] = "all") => found([ann, zoe, old], text, kind).map(({ id }) => id);
    expect(ids("zoe QUI")).toEqual(["Z"]);
    expect(ids("zoe berg")).toEqual([]);
    expect(ids("", "active")).toEqual(["A", "Z"]);
    expect(ids("", "invited")).toEqual(["Z"]);
    expect(ids("", "administrators")).toEqual(["A"]);
    expect(ids("", "deactivated")).toEqual(["O"]);
    expect(byName([zoe, ann]).map(({ id }) => id)).toEqual(["A", "Z"]);
  });

  test("a name is not known before the accounts are", () => {
    expect(nameOf(undefined)("A")).toBeUndefined();
    expect(names("A")).toBe("Ann Berg");
    expect(names("nobody")).toBe("Unknown account");
  });
});

describe("audit", () => {
  const entry = (action: string, subject: string, actor = "user:A") => ({ number: 1, at: 0, actor, action, subject });
  test("changes are sentences with names", () => {
    expect(auditWords(entry("user.deactivate", "Z"), names)).toBe("Deactivated Zoë Quist’s account");
    expect(auditWords(entry("user.password", "A"), names)).toBe("Set a password");
    expect(auditWords(entry("identity.unlink", "Z/17"), names)).toBe("Unlinked a sign-in of Zoë Quist");
    expect(auditWords(entry("session.sign_in", "S"), names)).toBe("Signed in with a password");
    expect(auditWords(entry("cap.set", "each_person day USD 5.00"), names)).toBe("Set the cap for each person: 5.00 USD a day");
    expect(auditWords(entry("cap.set", "person Z month USD 5.00"), names)).toBe("Set the cap for Zoë Quist: 5.00 USD a month");
    expect(auditWords(entry("cap.remove", "server month tokens"), names)).toBe(
      "Removed the cap for everyone together: tokens a month",
    );
  });

  test("things are named, if the server knows them", () => {
    const named = (action: string, subject: string, name: string) => auditWords({ ...entry(action, subject), name }, names);
    expect(named("token.create", "T", "laptop")).toBe("Created the token “laptop”");
    expect(auditWords(entry("token.create", "T"), names)).toBe("Created a token");
    expect(named("workspace.member", "W/Z", "Physics")).toBe("Set Zoë Quist’s role in the workspace “Physics”");
    expect(named("workspace.member_removed", "W/Z", "MEMBER")).toBe("Removed Zoë Quist from the workspace “MEMBER”");
    expect(named("notebook.place", "N/W", "Physics")).toBe("Moved a notebook to the workspace “Physics”");
    expect(auditWords(entry("notebook.place", "N/nowhere"), names)).toBe("Moved a notebook out of its workspace");
    expect(accountsOf(entry("workspace.member", "W/Z"))).toEqual(["A", "Z"]);
  });

  test("actions and subjects of a later release are shown as they are", () => {
    expect(auditWords(entry("robot.paint", "R"), names)).toBe("robot paint");
    expect(auditWords(entry("cap.set", "moon week USD 5"), names)).toBe("Set the cap “moon week USD 5”");
    expect(auditWords(entry("user.create", "?"), names)).toBe("Created Unknown account’s account");
  });

  test("authors are people or the server", () => {
    expect(actorWords("user:A", names)).toBe("Ann Berg");
    expect(actorWords("system", names)).toBe("The server");
    expect(actorWords("robot:1", names)).toBe("robot");
    expect(accountsOf(entry("user.create", "Z"))).toEqual(["A", "Z"]);
    expect(accountsOf(entry("token.create", "T", "system"))).toEqual([]);
  });
});

describe("nodes", () => {
  test("those that have died are not counted, nor are their versions", () => {
    const node = (version: string, is_alive: boolean) => ({ node: version, version, is_alive }) as NodeStatus;
    const nodes = [node("0.2.0", true), node("0.2.0", true), node("0.1.0", false)];
    expect(aboutWords(nodes)).toBe("2 servers share this database.");
    expect(aboutWords([...nodes, node("0.1.0", true)])).toContain("They run 2 versions");
    expect(aboutWords(nodes.slice(1))).toBe("One server.");
  });
});

describe("caps", () => {
  test("amounts are whole tokens, or money", () => {
    expect(amountOf("5,000,000", "tokens")).toBe("5000000");
    expect(amountOf("1.5", "tokens")).toBeUndefined();
    expect(amountOf(" 5.50 ", "USD")).toBe("5.50");
    expect(amountOf("1,000.5", "USD")).toBe("1000.5");
    expect(amountOf("5,50", "USD")).toBe("5.50");
    expect(amountOf("0,500", "USD")).toBe("0.500");
    expect(amountOf("1.234.567,89", "EUR")).toBe("1234567.89");
    expect(amountOf("12 500,5", "EUR")).toBe("12500.5");
    expect(amountOf("2500", "EUR")).toBe("2500");
    expect(amountOf("50.000.000", "tokens")).toBe("50000000");
    for (const ambiguous of ["2,500", "1.500", "999,000"]) expect(amountOf(ambiguous, "EUR")).toBeUndefined();
    for (const wrong of ["1,00,000", "1.2.3", "1,2,3", "1,234.567.8", "5.", ".5"]) expect(amountOf(wrong, "USD")).toBeUndefined();
    expect(amountOf("-1", "USD")).toBeUndefined();
    expect(amountOf("", "USD")).toBeUndefined();
  });

  test("a cap is named as the server knows it, and has its spender's name", () => {
    const cap = {
      spender: "person",
      person: "Z",
      period: "day",
      unit: "USD",
      amount: "5",
      by_owner: false,
      is_fixed: false,
      is_reached: false,
      ends_at: 0,
    } as const;
    expect(capName(cap)).toEqual({ spender: "person", person: "Z", period: "day", unit: "USD" });
    expect(capName({ ...cap, spender: "each_person" })).toEqual({ spender: "each_person", period: "day", unit: "USD" });
    expect(spenderWords(cap, names, new Map())).toBe("Zoë Quist");
    expect(spenderWords({ spender: "workspace", workspace: "W" }, names, new Map([["W", "Lab"]]))).toBe("Lab");
    expect(spenderWords({ spender: "server" }, names, new Map())).toBe("Everyone together");
    expect(fixedWords(cap)).toBeUndefined();
    expect(fixedWords({ is_fixed: true, by_owner: false })).toBe("Option of the server");
  });

  test("months are those of UTC, over the end of a year", () => {
    const months = monthsBefore(Date.UTC(2027, 0, 31, 23), 2);
    expect(months.map(({ since, until }) => [since, until])).toEqual([
      ["2027-01-01", "2027-01-31"],
      ["2026-12-01", "2026-12-31"],
    ]);
  });
});

describe("machines", () => {
  test("sums are read from the metrics", () => {
    const text = "# HELP notarium_agents Agents\nnotarium_agents 2\nnotarium_agent_cores 8\nnotarium_agent_busy_cores 1.5\n";
    expect(machinesOf(text)).toMatchObject({ agents: 2, cores: 8, busyCores: 1.5, gpus: 0 });
    expect(machinesOf("other 1\n")).toBeUndefined();
  });
});
