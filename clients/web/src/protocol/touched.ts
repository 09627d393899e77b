// Record of the parts that an event changed, for rendering.

/** Parts of the document other than single cells. */
export type Part = "notebook" | "order" | "access" | "kernels" | "executions" | "comments" | "assistants" | "schedules";

export class Touched {
  readonly cells = new Set<string>();
  readonly parts = new Set<Part>();

  cell(id: string): void {
    this.cells.add(id);
  }

  part(part: Part): void {
    this.parts.add(part);
  }

  add(other: Touched): void {
    for (const id of other.cells) this.cells.add(id);
    for (const part of other.parts) this.parts.add(part);
  }
}
