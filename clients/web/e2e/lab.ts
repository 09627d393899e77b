// JupyterLab with the extension of clients/jupyter, a person with jupyter-nbmodel-client, and a relay whose connections a test cuts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { type Server, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import { type Interface, createInterface } from "node:readline";
import type { Page } from "@playwright/test";
import { expect, freePort } from "./server.ts";

/** Python environment with JupyterLab and the extension: `make` has made it. */
export const LAB = process.env.NOTARIUM_LAB ?? new URL("../../../target/lab-venv", import.meta.url).pathname;
const TYPIST = new URL("../../../tests/interop/jupyter/", import.meta.url).pathname;

/** Passes TCP connections on, until they are cut. */
export class Relay {
  readonly #open = new Set<Socket>();
  #isCut = false;

  private constructor(
    readonly port: number,
    private readonly server: Server,
  ) {}

  static async start(port: number, to: () => number): Promise<Relay> {
    const server = createServer();
    const relay = new Relay(port, server);
    server.on("connection", (near) => {
      if (relay.#isCut) return void near.destroy();
      const far = connect({ host: "127.0.0.1", port: to(), noDelay: true });
      near.setNoDelay(true).pipe(far).pipe(near);
      for (const socket of [near, far]) {
        relay.#open.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          relay.#open.delete(socket);
          for (const end of [near, far]) end.destroy();
        });
      }
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Ends all connections, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#open) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  end(): void {
    this.cut();
    this.server.close();
  }
}

/** A notebook as nbformat has it. */
export interface Nbformat {
  cells: {
    id: string;
    cell_type: string;
    source: string | string[];
    execution_count?: number | null;
    outputs?: { output_type: string; name?: string; text?: string | string[]; data?: object }[];
  }[];
}

const text = (value: string | string[] | undefined) => [value ?? []].flat().join("");

/** Content by which two notebooks are compared: lines as one text, without what JupyterLab keeps for itself. */
export const content = ({ cells }: Nbformat) =>
  cells.map(({ id, cell_type, source, execution_count, outputs }) => ({
    ...{ id, cell_type, source: text(source), execution_count: execution_count ?? null },
    outputs: (outputs ?? []).map((output) => ({ type: output.output_type, name: output.name, text: text(output.text) })),
  }));

/** Starts `jupyter lab` as people have it; `environment` says whose notebooks it shows. Returns its address and an end. */
export async function jupyterLab(folder: string, environment: Record<string, string>, more: string[] = []) {
  const home = join(folder, "lab");
  mkdirSync(home, { recursive: true });
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = [
    ...["--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.port_retries=0", `--port=${new URL(url).port}`],
    ...["--LabApp.expose_app_in_browser=True", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
    ...["--LabApp.news_url=None", ...more],
  ];
  const env = { PATH: `${LAB}/bin:${process.env.PATH ?? ""}`, HOME: home, ...environment };
  const started = spawn(join(LAB, "bin/jupyter-lab"), options, { cwd: home, env, stdio: ["ignore", "inherit", "pipe"] });
  let log = "";
  started.stderr.on("data", (piece) => (log += String(piece)));
  const answers = () =>
    fetch(`${url}/api`)
      .then(({ ok }) => ok || log)
      .catch(() => log);
  await expect.poll(answers, { timeout: 120_000 }).toBe(true);
  return { url, log: () => log, end: () => ended(started) };
}

async function ended(started: ChildProcess): Promise<void> {
  if (started.exitCode !== null) return;
  const gone = once(started, "exit");
  started.kill("SIGTERM");
  await gone;
}

interface JupyterApp {
  shell: { currentWidget?: { content?: { model?: { toJSON: () => Nbformat } } } };
}

/** JupyterLab's own model of the open notebook. */
export const modelOf = (page: Page): Promise<Nbformat> =>
  page.evaluate(() => {
    const app = (window as unknown as { jupyterapp: JupyterApp }).jupyterapp;
    const model = app.shell.currentWidget?.content?.model;
    if (!model) throw new Error("no notebook is open");
    return model.toJSON();
  });

/** A person with jupyter-nbmodel-client. */
export class Typist {
  private constructor(
    private readonly process: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  static async start(environment: Record<string, string>): Promise<Typist> {
    const env = { PATH: process.env.PATH ?? "", ...environment };
    const started = spawn(join(LAB, "bin/python"), ["typist.py"], { cwd: TYPIST, env, stdio: ["pipe", "pipe", "inherit"] });
    const lines: Interface = createInterface({ input: started.stdout });
    const typist = new Typist(started, lines[Symbol.asyncIterator]());
    await typist.answer();
    return typist;
  }

  private async answer(): Promise<unknown> {
    const { value, done } = await this.lines.next();
    if (done) throw new Error("the client of jupyter-nbmodel-client has ended");
    return JSON.parse(value);
  }

  async does(order: object): Promise<unknown> {
    this.process.stdin?.write(`${JSON.stringify(order)}\n`);
    return this.answer();
  }

  end(): Promise<void> {
    return ended(this.process);
  }
}
