// Runs cells, starts turns of prompt cells, interrupts and restarts kernels.
import type { CellType, Command } from "../../protocol/messages.ts";
import { type Missing, missingWords } from "./missingFunctions.ts";
import { newId } from "../../transport/ids.ts";
import type { Asking, OpenNotebook, Selection, Toasts, Typing } from "./notebook.ts";

/** True for cell types that a kernel executes. */
export const isRunnable = (type: CellType | undefined): boolean => type === "code" || type === "sql";

export class Runs {
  readonly #notebook: OpenNotebook & Asking & Selection & Toasts & Typing;

  constructor(notebook: OpenNotebook & Asking & Selection & Toasts & Typing) {
    this.#notebook = notebook;
  }

  /** Runs cells in their order, after unconfirmed text is stored. Prompt cells start a turn. */
  async start(cells: string[], { isSure = false } = {}): Promise<void> {
    const notebook = this.#notebook;
    const typeOf = (id: string) => notebook.replica.document.cells.get(id)?.cell_type;
    const isTouched = notebook.replica.document.turns.size > 0 && !isSure && cells.some((id) => isRunnable(typeOf(id)));
    if (isTouched) {
      const action = { label: "Run now", run: () => void this.start(cells, { isSure: true }) };
      return void notebook.toast({ text: "The assistant is still working. What you run may change.", action });
    }
    await notebook.texts.settled(cells);
    for (const cell_id of cells.filter((id) => typeOf(id) === "prompt"))
      void notebook.send({ StartTurn: { conversation_id: notebook.conversation ?? newId(), cell_id } });
    const commands: Command[] = cells
      .filter((id) => isRunnable(typeOf(id)))
      .map((cell_id) => ({ RequestExecution: { target: { cell: { cell_id } }, stop_on_error: true } }));
    if (commands.length === 1 && commands[0]) await notebook.send(commands[0]);
    else if (commands.length > 1) await notebook.send({ Batch: { commands } });
  }

  /** Shows a toast with the functions that the new kernel lacks, and the cell to run for them. */
  tellMissing(missing: Missing): void {
    const notebook = this.#notebook;
    const cell = missing.cell_id ?? undefined;
    const text = missingWords(missing, cell === undefined ? 0 : notebook.replica.document.order.indexOf(cell) + 1);
    notebook.toast({ text, ...(cell !== undefined && { action: { label: "Show cell", run: () => notebook.select(cell) } }) });
  }

  interrupt(): void {
    for (const kernel_session of this.#started()) void this.#notebook.send({ InterruptKernel: { kernel_session } });
  }

  restart(): void {
    for (const kernel_session of this.#started()) void this.#notebook.send({ RestartKernel: { kernel_session } });
  }

  /** If no kernel is started, the first run starts one. */
  async restartAndRun(kernels = this.#started()): Promise<void> {
    const notebook = this.#notebook;
    for (const kernel_session of kernels) if (!(await notebook.send({ RestartKernel: { kernel_session } }))) return;
    await this.start(notebook.replica.document.order);
  }

  #started(): string[] {
    return [...this.#notebook.replica.document.kernels].filter(([, { phase }]) => phase === "started").map(([id]) => id);
  }
}
