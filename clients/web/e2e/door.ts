// A way to a server that is slow, or shut for a while: every byte of HTTP and of the socket waits.
import { type Server, type Socket, connect, createServer } from "node:net";

export class Door {
  #server: Server | undefined;
  #target = 0;
  #isShut = false;
  readonly #open = new Set<Socket>();
  port = 0;

  constructor(readonly delayMs: number) {}

  /** Before the server is started, which has to know the address. */
  async listen(): Promise<string> {
    const server = createServer((person) => this.#pass(person));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    this.port = typeof address === "object" && address ? address.port : 0;
    this.#server = server;
    return `http://127.0.0.1:${this.port}`;
  }

  leadTo(url: string): void {
    this.#target = Number(new URL(url).port);
  }

  /** What is open is cut, and nobody gets through. */
  shut(): void {
    this.#isShut = true;
    for (const socket of this.#open) socket.destroy();
  }

  unlock(): void {
    this.#isShut = false;
  }

  close(): void {
    this.shut();
    this.#server?.close();
  }

  #pass(person: Socket): void {
    if (this.#isShut) return void person.destroy();
    const server = connect(this.#target, "127.0.0.1");
    this.#carry(person, server);
    this.#carry(server, person);
  }

  /** In order, each piece after half of the delay. */
  #carry(from: Socket, to: Socket): void {
    this.#open.add(from);
    from.setNoDelay(true);
    from.on("data", (bytes) => void setTimeout(() => !to.destroyed && to.write(bytes), this.delayMs / 2));
    from.on("end", () => void setTimeout(() => to.end(), this.delayMs / 2));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.#open.delete(from);
      setTimeout(() => to.destroy(), this.delayMs);
    });
  }
}
