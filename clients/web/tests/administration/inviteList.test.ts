import { describe, expect, test } from "vitest";
import {
  linksCsv,
  linksText,
  readList,
  recordsOf,
  rowsOf,
  textOf,
  wrongLines,
  wrongRows,
} from "../../src/views/administration/inviteList.ts";

const user = (login: string, name: string) => ({ id: login, login, name, is_admin: false, has_password: false, created_at: 0 });
const linkOf = (token: string) => `https://notes.example.org/#token=${token}`;

describe("reading a list", () => {
  test("quotes hold commas, quotes and line ends, and records keep the line on which they begin", () => {
    expect(recordsOf('login,name\r\nann,"Berg, ""Ann"""\r\n\r\nbo,"two\nlines"\ncy,Cy')).toEqual([
      { line: 1, fields: ["login", "name"] },
      { line: 2, fields: ["ann", 'Berg, "Ann"'] },
      { line: 4, fields: ["bo", "two\nlines"] },
      { line: 6, fields: ["cy", "Cy"] },
    ]);
  });

  test("columns have any order and case, and a byte order mark is no part of the first", () => {
    const list = readList("\uFEFFLogin , name\nann,Ann\n");
    expect(list.problem).toBeUndefined();
    expect([...list.logins]).toEqual([[2, "ann"]]);
    expect([...readList("name,login\nAnn, ann ").logins]).toEqual([[2, "ann"]]);
  });

  test("a file that is not UTF-8 has no text", () => {
    expect(textOf(new TextEncoder().encode("login,name\nj,Jörg").buffer)).toBe("login,name\nj,Jörg");
    expect(textOf(new Uint8Array([0x6a, 0xf6, 0x72, 0x67]).buffer)).toBeUndefined();
  });

  test("lists that the server would refuse are not sent", () => {
    expect(readList("  ").problem).toBe("Paste a list or choose a file.");
    expect(readList("name\nAnn").problem).toContain("“login”");
    expect(readList("login\n\n").problem).toContain("no people");
    expect(readList(`login\n${"ann\n".repeat(1_001)}`).problem).toContain("1,000");
    expect(readList(`login,name\nann,${"x".repeat(300_000)}`).problem).toContain("256 KB");
    expect(readList(`login\n${"ann\n".repeat(1_000)}`).problem).toBeUndefined();
  });
});

describe("results of a list", () => {
  const rows = rowsOf({
    invited: [{ line: 4, user: user("=ann", 'Ann "A" Berg'), email: "ann@example.org", token: "t1", expires_at: 5 }],
    existing: [{ line: 3, login: "bo" }],
  });

  test("rows are in the order of the list", () => {
    expect(rows.map(({ line, state }) => [line, state])).toEqual([
      [3, "existing"],
      [4, "invited"],
    ]);
  });

  test("links are saved as CSV without formulas, and copied as text", () => {
    expect(linksCsv(rows, linkOf)).toBe(
      `login,name,email,link\r\n'=ann,"Ann ""A"" Berg",ann@example.org,https://notes.example.org/#token=t1\r\n`,
    );
    expect(linksText(rows, linkOf)).toBe('Ann "A" Berg: https://notes.example.org/#token=t1');
  });

  test("wrong lines are found in the refusal, with the logins of the list", () => {
    const lines = [{ line: 3, message: "a login has no spaces" }];
    expect(wrongLines({ lines })).toEqual(lines);
    expect(wrongLines({ detail: "busy" })).toEqual([]);
    expect(wrongLines(undefined)).toEqual([]);
    expect(wrongRows(lines, readList("login\nann\nb o"))).toEqual([
      { line: 3, login: "b o", state: "wrong", message: "a login has no spaces" },
    ]);
  });
});
