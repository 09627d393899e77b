// Fake sockets between clients and the reference server. Messages arrive only when the test delivers them.
import type { ClientMessage, ServerMessage } from "../../src/protocol/messages.ts";
import type { Socket } from "../../src/transport/connection.ts";
import type { Client, ReferenceServer } from "./server.ts";

export class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly toServer: string[] = [];
  readonly toClient: string[] = [];
  isOpen = false;
  isClosed = false;

  send(text: string): void {
    if (!this.isClosed) this.toServer.push(text);
  }

  close(): void {
    this.isClosed = true;
  }
}

export class FakeNet {
  readonly sockets: FakeSocket[] = [];
  /** True if new connections fail. */
  isDown = false;
  readonly #clients = new Map<FakeSocket, Client>();

  constructor(readonly server: ReferenceServer) {}

  open = (): FakeSocket => {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  };

  get current(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("nobody has connected");
    return socket;
  }

  /** Opens the newest connection, or fails it if the network is down. */
  accept(socket = this.current): void {
    if (socket.isOpen || socket.isClosed) return;
    if (this.isDown) return this.cut(socket);
    socket.isOpen = true;
    const send = (message: ServerMessage) => void socket.toClient.push(JSON.stringify(message));
    const client: Client = { connection: `c${++this.server.connections}`, user: "", isSubscribed: false, send };
    this.#clients.set(socket, client);
    this.server.clients.add(client);
    socket.onopen?.();
  }

  /** Delivers the next message of each direction. Returns true if there was one. */
  deliver(direction: "both" | "up" | "down" = "both", socket = this.current): boolean {
    const client = this.#clients.get(socket);
    if (!client || !socket.isOpen || socket.isClosed) return false;
    const up = direction !== "down" ? socket.toServer.shift() : undefined;
    if (up !== undefined) this.server.hear(client, JSON.parse(up) as ClientMessage);
    const down = direction !== "up" ? socket.toClient.shift() : undefined;
    if (down !== undefined) socket.onmessage?.({ data: down });
    return up !== undefined || down !== undefined;
  }

  deliverAll(): void {
    this.accept();
    while (this.deliver());
  }

  /** Cuts a connection. Undelivered messages are lost. */
  cut(socket = this.current): void {
    const client = this.#clients.get(socket);
    if (client) this.server.clients.delete(client);
    socket.isOpen = false;
    socket.onclose?.();
  }
}
