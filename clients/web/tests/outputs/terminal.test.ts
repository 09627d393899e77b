import { expect, test } from "vitest";
import { parts } from "../../src/outputs/text.ts";
import { Screen, joinedLines, settledLines } from "../../src/outputs/terminal.ts";

const settled = (text: string) => settledLines(text).join("\n");

test("a carriage return writes the line over, a backspace goes back", () => {
  expect(settled("10%\r20%\r100%\nnext")).toBe("100%\nnext");
  expect(settled("long line\rab")).toBe("abng line");
  expect(settled("a\r\nb")).toBe("a\nb");
  expect(settled("abc\b\bX")).toBe("aXc");
});

test("two progress bars, one in the other, stay two lines", () => {
  const inner = (percent: number) => `\n\rinner: ${percent}%\u001b[A`;
  const text = `outer: 0%${inner(0)}${inner(50)}${inner(100)}\router: 50%${inner(0)}${inner(100)}\router: 100%`;
  expect(settledLines(text)).toEqual(["outer: 100%", "inner: 100%"]);
});

test("erasing: the rest of a line, a line, all below, everything", () => {
  expect(settled("abcdef\r\u001b[3C\u001b[Kx")).toBe("abcx");
  expect(settled("abcdef\u001b[2Kx")).toBe("      x");
  expect(settled("a\nb\nc\u001b[2A\u001b[Jz")).toBe("az");
  expect(settled("a\nb\u001b[2J\u001b[Hnew")).toBe("new");
});

test("each line has its colours with it, also where it was written over", () => {
  const [first, second] = settledLines("\u001b[31mred\nstill\u001b[0m plain");
  expect([first, second]).toEqual(["\u001b[31mred", "\u001b[31mstill\u001b[0m plain"]);
  expect(settled("\u001b[31mred\u001b[0m\rRE")).toBe("RE\u001b[31md");
  expect(settled("\u001b[1m\u001b[22m\u001b[38:2::1:2:3mx")).toBe("\u001b[38;2;1;2;3mx");
});

test("an escape that was cut in two is none the less one, and a link leaves its text", () => {
  const screen = new Screen();
  for (const piece of ["a\u001b", "[3", "1mb\u001b]8;;http://x", "\u001b\\link\u001b]8;;\u001b\\"]) screen.write(piece);
  expect(screen.lines()).toEqual(["a\u001b[31mblink"]);
});

test("text that comes in pieces ends as the whole does, also for a reader who looks in between", () => {
  const text = "one\r\ntwo\u001b[32m three\u001b[1A\rX\n\u001b[Kfour\u001b[0m\nfive\u001b[2F\u001b[Jsix\b\nseven\u001b[2Jeight\n";
  for (let cut = 0; cut <= text.length; cut++) {
    const screen = new Screen();
    screen.write(text.slice(0, cut));
    expect([cut, screen.lines()]).toEqual([cut, settledLines(text.slice(0, cut))]);
    screen.write(text.slice(cut));
    expect([cut, screen.lines()]).toEqual([cut, settledLines(text)]);
  }
});

test("a cursor sent far away costs no memory", () => {
  expect(settledLines("\u001b[60000Cx")[0]?.length).toBe(4_000);
  expect(settledLines("\u001b[60000Bx")).toEqual(["x"]);
});

test("a wide character takes two columns, an accent none", () => {
  expect(settled("日本\rabc")).toBe("abc");
  expect(settled("日本\r\u001b[2Cx")).toBe("日x");
  expect(settled("e\u0301e\r\u001b[Cx")).toBe("e\u0301x");
});

test("after another screen, a line tabulation or a scroll region the text stays as it came", () => {
  expect(settled("ab\rc\u000bd\re")).toBe("cbd\re");
  expect(settled("ab\rc\u001b[?1049hd\u001b[1Ae\u001b[?1049l")).toBe("cbde");
  expect(settled("one\rO\u001b[1;5rtwo\nthree")).toBe("Onetwo\nthree");
});

test("only the last 2,000 lines can be written over", () => {
  const lines = Array.from({ length: 2_500 }, (_, at) => `${at}\n`).join("");
  expect(settledLines(`${lines}\u001b[1999Ax`)[501]).toBe("x01");
  expect(settledLines(`${lines}\u001b[2000Ax`).slice(499)).toEqual([...lines.split("\n").slice(499, -1), "x"]);
});

test("no line paints the next: a colour that is not ended on its line ends with it, unless the program goes on in it", () => {
  const looks = (text: string) =>
    parts(joinedLines(settledLines(text))).flatMap(({ text: shown, ...look }) => [...shown].map((letter) => ({ letter, ...look })));
  const codes = ["38;2;200;10;10", "48;5;160", "1;35", "38;5;255", "0", "39", "49", "7"];
  for (const one of codes)
    for (const other of codes)
      for (const between of ["\n", "\u001b[0m\n", "\n\u001b[0m", "\n\n"]) {
        const text = `\u001b[${one}mA${between}\u001b[${other}mB\u001b[0m\nC`;
        // Without line breaks the same codes give each letter its look.
        const expected = looks(text.replaceAll("\n", ""));
        expect([text, looks(text).filter(({ letter }) => letter !== "\n")]).toEqual([text, expected]);
      }
});
