// Runs cells, starts turns of prompt cells, interrupts and restarts kernels. Runs requested without a connection wait here, where
// they can be taken back, and are sent when it returns.
import { isFinished } from "../../protocol/apply/executions.ts";
import type { Actor, CellType, Command, Execution } from "../../protocol/messages.ts";
import { kindOf } from "../words/words.ts";
import { assistantsAtWork } from "./assistants.ts";
import { type Missing, missingWords } from "./missingFunctions.ts";
import { newId } from "../../transport/ids.ts";
import type { Asking, OpenNotebook, Selection, Toasts, Typing } from "./notebook.ts";

/** True for cell types that a kernel executes. */
export const isRunnable = (type: CellType | undefined): boolean => type === "code" || type === "sql";

/** Cells to run, until the server has answered. */
interface RunRequest {
  cells: Set<string>;
  /** The server may have the request, so that it can no longer be taken back here. */
  isSent: boolean;
}

export class Runs {
  readonly #notebook: OpenNotebook & Asking & Selection & Toasts & Typing;
  readonly #requests = new Set<RunRequest>();

  constructor(notebook: OpenNotebook & Asking & Selection & Toasts & Typing) {
    this.#notebook = notebook;
    notebook.replica.stateChanged.add(() => this.#requests.forEach(({ cells }) => this.#show(cells)));
  }

  /** Runs of the cell that wait for the connection: “held” ones can be taken back. Undefined without such a run. */
  waits(cell: string): "held" | "sent" | undefined {
    if (this.#requests.size === 0 || this.#notebook.isLive) return undefined;
    const requests = [...this.#requests].filter(({ cells }) => cells.has(cell));
    if (requests.length === 0) return undefined;
    return requests.some(({ isSent }) => !isSent) ? "held" : "sent";
  }

  /** True if runs wait for the connection. */
  get isWaiting(): boolean {
    return !this.#notebook.isLive && [...this.#requests].some(({ cells }) => cells.size > 0);
  }

  /**
   * Takes back runs that were not sent yet: all, or those of these cells that wait for the connection. Connected, a run waits for
   * its cell's text alone, and Escape after it means the editor. Returns true if there was one.
   */
  takeBack(cells?: readonly string[]): boolean {
    if (cells && this.#notebook.isLive) return false;
    let isTaken = false;
    for (const request of this.#requests) {
      const taken = request.isSent ? [] : (cells ?? [...request.cells]).filter((cell) => request.cells.delete(cell));
      isTaken ||= taken.length > 0;
      this.#show(taken);
    }
    return isTaken;
  }

  #show(cells: Iterable<string>): void {
    for (const cell of cells) this.#notebook.touchSoon(`cell:${cell}`);
    this.#notebook.touchSoon("executions");
  }

  /** Resolves while connected. */
  #connected(): Promise<void> {
    const notebook = this.#notebook;
    if (notebook.isLive) return Promise.resolve();
    return new Promise((resolve) => {
      const end = notebook.replica.stateChanged.add(() => {
        if (!notebook.isLive) return;
        end();
        resolve();
      });
    });
  }

  /** Runs cells in their order, after unconfirmed text is stored. Prompt cells start a turn. `isFree`: all effects are allowed. */
  async start(cells: string[], { isSure = false, isFree = false } = {}): Promise<void> {
    const notebook = this.#notebook;
    const typeOf = (id: string) => notebook.replica.document.cells.get(id)?.cell_type;
    const isTouched = notebook.replica.document.turns.size > 0 && !isSure && cells.some((id) => isRunnable(typeOf(id)));
    if (isTouched) {
      const action = { label: "Run now", run: () => void this.start(cells, { isSure: true, isFree }) };
      const waits = assistantsAtWork(notebook.replica.document).every((each) => each.waits);
      const why = waits ? "the assistant waits for your decision" : "the assistant is still working and may change it";
      return void notebook.toast({ text: `Not run yet: ${why}.`, action });
    }
    const runs = (id: string) => isRunnable(typeOf(id)) || typeOf(id) === "prompt";
    const request: RunRequest = { cells: new Set(cells.filter((id) => runs(id) && this.waits(id) !== "held")), isSent: false };
    this.#requests.add(request);
    if (!notebook.isLive) this.#show(request.cells);
    await this.#whenReady(request);
    request.isSent = true;
    const wanted = [...request.cells];
    const turns = wanted
      .filter((id) => typeOf(id) === "prompt")
      .map((cell_id) => notebook.send({ StartTurn: { conversation_id: notebook.conversation ?? newId(), cell_id } }));
    const commands: Command[] = wanted
      .filter((id) => isRunnable(typeOf(id)))
      .map((cell_id) => ({
        RequestExecution: { target: { cell: { cell_id } }, stop_on_error: true, ...(isFree && { effects: "free" as const }) },
      }));
    const done = commands.length > 1 ? notebook.send({ Batch: { commands } }) : commands[0] && notebook.send(commands[0]);
    void Promise.all([...turns, done]).then(() => this.#requests.delete(request));
    await done;
  }

  /** Resolves when the connection is there and the cells' text is confirmed. */
  async #whenReady({ cells }: RunRequest): Promise<void> {
    do {
      await this.#connected();
      await this.#notebook.texts.settled([...cells]);
    } while (!this.#notebook.isLive);
  }

  /** Stops all runs, and takes back those that wait for the connection. */
  stopAll(): void {
    const { executions } = this.#notebook.replica.document;
    const isTaken = this.takeBack();
    const isOpen = [...executions.values()].some(({ status }) => !isFinished(status));
    if (isOpen || !isTaken) {
      if (this.#isOffline("Stop the runs")) return;
      void this.#notebook.send({ StopAll: {} });
    }
  }

  /** Shows a toast with the functions that the new kernel lacks, and the cell to run for them. */
  tellMissing(missing: Missing): void {
    const notebook = this.#notebook;
    const cell = missing.cell_id ?? undefined;
    const text = missingWords(missing, cell === undefined ? 0 : notebook.replica.document.order.indexOf(cell) + 1);
    notebook.toast({ text, ...(cell !== undefined && { action: { label: "Show cell", run: () => notebook.select(cell) } }) });
  }

  interrupt(): void {
    if (this.#isOffline("Interrupt the kernel")) return;
    for (const kernel_session of this.#started()) void this.#notebook.send({ InterruptKernel: { kernel_session } });
  }

  restart(kernels = this.#started()): Promise<void> {
    return this.#end(kernels, "Restart", () => {
      for (const kernel_session of kernels) void this.#notebook.send({ RestartKernel: { kernel_session } });
    });
  }

  /** Restarts a kernel on another machine. */
  restartOn(kernel_session: string, agent: string): Promise<void> {
    return this.#end([kernel_session], "Restart", () => void this.#notebook.send({ RestartKernel: { kernel_session, agent } }));
  }

  shutDown(kernel_session: string): Promise<void> {
    return this.#end([kernel_session], "Shut down", () => void this.#notebook.send({ ShutDownKernel: { kernel_session } }));
  }

  /** If no kernel is started, the first run starts one. */
  restartAndRun(kernels = this.#started()): Promise<void> {
    return this.#end(kernels, "Restart", () => void this.#restartAndRun(kernels));
  }

  async #restartAndRun(kernels: string[]): Promise<void> {
    const notebook = this.#notebook;
    for (const kernel_session of kernels) if (!(await notebook.send({ RestartKernel: { kernel_session } }))) return;
    await this.start(notebook.replica.document.order);
  }

  /** True if offline, and says so: an act on a kernel is not kept for later, when other runs may be going. */
  #isOffline(act: string): boolean {
    if (this.#notebook.isLive) return false;
    this.#notebook.toast({ text: `You’re offline. ${act} when you’re connected again.` });
    return true;
  }

  /** Ends the runs of kernels by an act; asks first if other people’s runs are among them. */
  async #end(kernels: string[], act: string, end: () => void): Promise<void> {
    const isOffline = () => this.#isOffline(`${act} the kernel`);
    if (isOffline()) return;
    const run = () => void (isOffline() || end());
    const [first, ...more] = this.#runsOfOthers(kernels);
    if (!first) return run();
    const notebook = this.#notebook;
    const { requested_by, subject, status } = first;
    const known = await notebook.session.nameOfActor(requested_by)?.catch(() => undefined);
    const who = known ?? kindOf(requested_by);
    const owner = requested_by.kind === "assistant" ? `${who}’s assistant` : who;
    const place = "cell_id" in subject ? notebook.replica.document.order.indexOf(subject.cell_id) + 1 : 0;
    const is = status === "running" ? "is running" : "is queued";
    const others = more.length === 0 ? "" : `, with ${more.length} more ${more.length === 1 ? "run" : "runs"} of others`;
    notebook.toast({
      text: `${owner}’s ${place > 0 ? `cell ${place}` : "code"} ${is}${others}. ${act} anyway?`,
      action: { label: act, run },
      second: { label: "Cancel", run: () => undefined },
    });
  }

  /** Unfinished runs of others in these kernels, the running one first; runs that have no kernel yet may come to any. */
  #runsOfOthers(kernels: string[]): Execution[] {
    const isMine = (by: Actor) =>
      this.#notebook.session.isMe(by) || (by.kind === "assistant" && by.for_user === this.#notebook.session.userId);
    const open = [...this.#notebook.replica.document.executions.values()].filter(
      ({ status, kernel_session, requested_by }) =>
        !isFinished(status) && !isMine(requested_by) && (!kernel_session || kernels.includes(kernel_session)),
    );
    return open.sort(
      (a, b) => Number(b.status === "running") - Number(a.status === "running") || a.requested_version - b.requested_version,
    );
  }

  #started(): string[] {
    return [...this.#notebook.replica.document.kernels].filter(([, { phase }]) => phase === "started").map(([id]) => id);
  }
}
