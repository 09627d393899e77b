// JupyterLab in one Chromium, the page in another, jupyter-nbmodel-client and an assistant type and run in one notebook, with cuts
// between. In the end all have the same notebook, nothing is doubled, and the record names the authors.
// `NOTARIUM_LAB_SECONDS=300` makes it longer (`make soak`).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type Page, test } from "@playwright/test";
import { apply } from "../src/protocol/apply.ts";
import { Document } from "../src/protocol/document.ts";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { type Nbformat, Relay, Typist, content, jupyterLab, modelOf } from "./lab.ts";
import { events, notebookOf, replicaOf } from "./record.ts";
import { TestServer, expect, freePort, person } from "./server.ts";

const SECONDS = Number(process.env.NOTARIUM_LAB_SECONDS ?? 40);
/** Lines of the first cell, in which the first letter of each person's words is their own. */
const LINES = ["# page P", "# lab L", "# model M"];

interface Seen {
  cell_id: string;
  version: number;
  source: string;
}

/** Everything that the test has started. */
class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), "notarium-lab-"));
  readonly server = new TestServer();
  readonly ids = new Map<string, string>();
  readonly started: (() => unknown)[] = [];
  readonly words: string[] = [];
  notebook = "";
  page!: Page;
  lab!: Page;
  relay!: Relay;
  typist!: Typist;

  static async start(browser: Browser): Promise<Scene> {
    const scene = new Scene();
    const { server, started } = scene;
    started.push(() => server.end());
    const port = await freePort();
    await server.start(["--allow-host", `127.0.0.1:${port}`]);
    const relay = (scene.relay = await Relay.start(port, () => Number(new URL(server.url).port)));
    started.push(() => relay.end());
    const cells = ["page", "lab", "model", "helper"].map((id) => python(id, `print("${id}")`));
    scene.page = await person(browser, server);
    await bringIn(scene.page, notebook(python("shared", LINES.join("\n")), ...cells), "Together.ipynb");
    scene.notebook = notebookOf(scene.page);
    const me = (await (await server.send("GET", "/api/me")).json()) as { actor: { id: string }; user?: { id: string } };
    scene.ids.set("Ann", me.user?.id ?? me.actor.id);
    const [lin, mo] = [await scene.join("Lin"), await scene.join("Mo")];
    const lab = await jupyterLab(scene.folder, { NOTARIUM_SERVER: relay.url, NOTARIUM_TOKEN: lin }, ["--Notarium.cut_seconds=300"]);
    started.push(lab.end);
    await expect.poll(lab.log).toContain("works as Lin");
    scene.lab = await (await browser.newContext()).newPage();
    await scene.lab.goto(`${lab.url}/lab/tree/Together.ipynb`);
    await scene.lab.locator(".jp-CodeCell").nth(4).waitFor({ timeout: 60_000 });
    await expect(scene.lab.locator(".jp-NotebookPanel-toolbar")).toContainText("Python 3", { timeout: 60_000 });
    const door = { NOTARIUM_DOOR: `${relay.url}/jupyter`, NOTARIUM_PATH: "Together.ipynb", NOTARIUM_NOTEBOOK: scene.notebook };
    scene.typist = await Typist.start({ ...door, NOTARIUM_TOKEN: mo });
    started.push(() => scene.typist.end());
    return scene;
  }

  /** Creates an account that may edit the notebook. Returns its token. */
  private async join(name: string): Promise<string> {
    const { id, token } = await this.server.account(name);
    this.ids.set(name, id);
    await this.server.send("PUT", `/api/notebooks/${this.notebook}/access`, { subject: { kind: "user", id }, role: "editor" });
    // A new member's list of notebooks may lag behind the grant.
    const headers = { authorization: `token ${token}` };
    const listed = () => fetch(`${this.server.url}/jupyter/api/contents/Together.ipynb`, { headers }).then(({ status }) => status);
    await expect.poll(listed).toBe(200);
    return token;
  }

  async end(): Promise<void> {
    for (const end of this.started.reverse()) await end();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  word(letter: string, round: number): string {
    const word = ` ${letter}${round}.`;
    this.words.push(word);
    return word;
  }

  // --- what each of them does ---

  /** Types at the end of a line of the first cell on the page. */
  async typesOnPage(text: string): Promise<void> {
    await this.page.keyboard.press("Escape");
    await this.page.locator('.cell[data-cell="shared"] .source').click();
    await this.page.locator(".editing .cm-content").waitFor();
    await this.page.keyboard.press("Control+Home");
    await this.page.keyboard.press("End");
    await this.page.keyboard.type(text, { delay: 20 });
  }

  async runsOnPage(): Promise<void> {
    await this.page.locator('.cell[data-cell="page"] .source').click();
    await this.page.locator(".editing .cm-content").waitFor();
    await this.page.keyboard.press("Control+Enter");
  }

  async typesInLab(text: string): Promise<void> {
    // A dialog would say that JupyterLab has lost the notebook or its kernel.
    expect(await this.lab.locator(".jp-Dialog").allInnerTexts()).toEqual([]);
    await this.lab.locator(".jp-CodeCell .cm-line").nth(1).click();
    await this.lab.keyboard.press("End");
    await this.lab.keyboard.type(text, { delay: 20 });
  }

  async runsInLab(): Promise<void> {
    await this.lab.locator(".jp-CodeCell").nth(2).locator(".cm-line").first().click();
    await this.lab.keyboard.press("Control+Enter");
  }

  /** The assistant replaces the text of its own cell, and runs it. */
  async helperWorks(round: number): Promise<void> {
    this.server.model.script = ({ results }) => {
      if (results.length === 0) return { calls: [{ name: "get_notebook_state", arguments: {} }] };
      if (results.length > 2) return { text: "Done." };
      const { cells } = JSON.parse(results[0] ?? "{}") as { cells: Seen[] };
      const own = cells.find(({ cell_id }) => cell_id === "helper");
      const source = `${own?.source} # A${round}.`;
      const edit = { name: "modify_cell", arguments: { cell_id: "helper", cell_version: own?.version, source } };
      return { calls: results.length === 1 ? [edit] : [{ name: "execute_cell", arguments: { cell_id: "helper" } }] };
    };
    const answer = await this.server.send("POST", `/api/notebooks/${this.notebook}/chat`, { text: `round ${round}` });
    expect(await answer.text()).toContain("Done.");
    this.words.push(` # A${round}.`);
  }

  /** One round. Nobody waits for the others; in every third round connections are cut while people type. */
  async round(round: number): Promise<void> {
    const isCut = round % 3 === 2;
    if (isCut) {
      // A cut client of jupyter-nbmodel-client begins anew, without what it has not sent.
      const last = this.words.findLast((word) => word.includes("M")) ?? "";
      await expect.poll(async () => (await this.record()).sources.join("\n")).toContain(last);
      const [lab, page] = [this.typesInLab(this.word("L", round)), this.typesOnPage(this.word("P", round))];
      this.relay.cut();
      await this.page.context().setOffline(true);
      try {
        await Promise.all([lab, page]);
      } finally {
        await this.page.context().setOffline(false);
        this.relay.mend();
      }
      await this.typist.does({ connects: true });
      return;
    }
    const lab = this.typesInLab(this.word("L", round)).then(() => this.runsInLab());
    const page = this.typesOnPage(this.word("P", round)).then(() => this.runsOnPage());
    const model = this.typist.does({ types: this.word("M", round), line: 2 }).then(() => this.typist.does({ runs: "model" }));
    const helper = round % 3 === 1 ? this.helperWorks(round) : undefined;
    await Promise.all([lab, page, model, helper]);
    if (round % 4 === 1) await this.typist.does({ adds: `# ${this.word("M", round * 1_000)}` });
  }

  // --- the end ---

  /** Notebook of the record: its file, and the digest after a replay of its events. */
  async record(): Promise<{ file: Nbformat; version: number; digest: string; sources: string[] }> {
    const log = await events(this.server, this.notebook, 0);
    const folded = new Document(this.notebook);
    for (const event of log) apply(folded, event);
    const file = (await (await this.server.send("GET", `/api/notebooks/${this.notebook}/export?format=ipynb`)).json()) as Nbformat;
    const sources = folded.order.map((id) => folded.cells.get(id)?.source ?? "");
    return { file, version: log.length, digest: folded.digest(), sources };
  }

  async everythingIsEqual(): Promise<void> {
    await expect(this.page.locator(".connection")).toHaveText("Saved", { timeout: 30_000 });
    const states = async () => {
      const { file, ...truth } = await this.record();
      const [lab, model] = [content(await modelOf(this.lab)), content((await this.typist.does({ shows: true })) as Nbformat)];
      return { page: await replicaOf(this.page), lab, model, truth, file: content(file) };
    };
    // Compares one moment's states: the record may still move while runs end.
    const apart = async () => {
      const { page, lab, model, truth, file } = await states();
      const parts = { page: [page, truth], lab: [lab, file], model: [model, file] };
      return Object.entries(parts).filter(([, [one, other]]) => JSON.stringify(one) !== JSON.stringify(other));
    };
    await expect.poll(apart, { timeout: 60_000 }).toEqual([]);
    const proven = (await (await this.server.send("GET", `/api/notebooks/${this.notebook}/verify`)).json()) as object;
    const { version, sources } = await this.record();
    expect(proven).toMatchObject({ ok: true, state_is_replayed: true, version });
    const everything = sources.join("\n");
    const counts = this.words.map((word) => [word, everything.split(word).length - 1]);
    expect(counts.filter(([, count]) => count !== 1)).toEqual([]);
  }

  /** Each person's events insert only their own words, and `blame` names the author of each line. */
  async authorsAreRight(): Promise<void> {
    const own = { P: "Ann", L: "Lin", M: "Mo" };
    for (const { type, payload, actor } of await events(this.server, this.notebook, 0)) {
      if (type !== "CellSourceEdited") continue;
      const { change, cell_id } = payload as unknown as { change: (number | [number, string])[]; cell_id: string };
      const inserted = change.map((section) => (Array.isArray(section) ? section[1] : "")).join("");
      const letter = Object.entries(own).find(([letter]) => inserted.includes(letter));
      if (cell_id !== "shared") expect(actor).toMatchObject({ kind: "assistant" });
      else if (letter) expect(actor, inserted).toMatchObject({ kind: "user", id: this.ids.get(letter[1]) });
    }
    const blame = await this.server.command("blame", this.notebook, "shared", "--json");
    const lines = JSON.parse(blame) as { actor: { id?: string } }[];
    expect(lines.map(({ actor }) => actor.id)).toEqual(["Ann", "Lin", "Mo"].map((name) => this.ids.get(name)));
    for (const [name, cell] of [
      ["Lin", "lab"],
      ["Mo", "model"],
    ] as const) {
      const everything = ["--actor", `user:${this.ids.get(name)}`, "--since", "0", "--limit", "100000"];
      const log = await this.server.command("log", this.notebook, ...everything);
      expect(log).toContain(`${name} edited cell shared`);
      expect(log).toContain(`${name} asked to run cell ${cell}`);
      expect(log).not.toContain("edited cell helper");
    }
  }

  /** Undo in JupyterLab takes back what Lin typed, and nothing that others typed meanwhile. */
  async undoIsOnesOwn(): Promise<void> {
    await this.typesInLab(" Undone");
    await Promise.all([this.typist.does({ types: this.word("M", 999_999), line: 2 }), this.typesOnPage(this.word("P", 999_999))]);
    const shared = async () => (await this.record()).sources[0] ?? "";
    await expect.poll(shared).toContain("Undone");
    await expect.poll(shared).toContain(" P999999.");
    await expect.poll(async () => content(await modelOf(this.lab))[0]?.source).toBe(await shared());
    const others = (await shared()).split("\n").filter((_, at) => at !== 1);
    await this.lab.locator(".jp-CodeCell .cm-line").nth(1).click();
    await expect
      .poll(async () => {
        await this.lab.keyboard.press("Control+z");
        return shared();
      })
      .not.toContain("Undone");
    expect((await shared()).split("\n").filter((_, at) => at !== 1)).toEqual(others);
    // Redo brings the words back that went with it, so that each still counts once.
    await expect
      .poll(async () => {
        await this.lab.keyboard.press("Control+Shift+z");
        return shared();
      })
      .toContain("Undone");
  }
}

test.use({ actionTimeout: 30_000 });

test("JupyterLab, the page, nbmodel-client and an assistant work in one notebook, with cuts between", async ({ browser }) => {
  test.setTimeout((SECONDS + 300) * 1_000);
  const scene = await Scene.start(browser);
  try {
    const end = Date.now() + SECONDS * 1_000;
    for (let round = 0; Date.now() < end || round < 4; round++) await scene.round(round);
    await scene.everythingIsEqual();
    await scene.authorsAreRight();
    await scene.undoIsOnesOwn();
    await scene.everythingIsEqual();
  } finally {
    await scene.end();
  }
});
