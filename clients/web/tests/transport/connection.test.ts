import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, backoff } from "../../src/transport/connection.ts";
import { FakeNet } from "../support/net.ts";
import { HEARTBEAT_MS, ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const server = new ReferenceServer();
  const net = new FakeNet(server);
  const connection = new Connection({ open: net.open, client: "test", random: () => 0.5 });
  return { server, net, connection };
}

test("it says who it is, with the protocols that it speaks", () => {
  const { net, connection } = setup();
  connection.start("ann");
  expect(connection.state.name).toBe("connecting");
  net.accept();
  expect(JSON.parse(net.current.toServer[0] ?? "")).toEqual({
    hello: { protocols: { min: 1, max: 1 }, token: "ann", client: "test" },
  });
  net.deliverAll();
  expect(connection.state).toMatchObject({ name: "live", welcome: { protocol: 1 } });
});

test("a lost connection comes back, later and later, and says when", () => {
  const { net, connection } = setup();
  connection.start("ann");
  net.deliverAll();
  net.isDown = true;
  net.cut();
  const delays: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    const { state } = connection;
    if (state.name !== "waiting") throw new Error(state.name);
    delays.push(state.until - Date.now());
    vi.advanceTimersByTime(state.until - Date.now());
    expect(connection.state.name).toBe("connecting");
    net.accept();
  }
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  net.isDown = false;
  connection.retryNow();
  net.deliverAll();
  expect(connection.state.name).toBe("live");
  net.cut();
  expect(connection.state).toMatchObject({ name: "waiting", until: Date.now() + 500 });
});

test("the delay is between half and one and a half times what it would be", () => {
  expect([backoff(1, 0), backoff(1, 1), backoff(20, 0), backoff(20, 1)]).toEqual([250, 750, 15_000, 45_000]);
});

test("who is refused does not try again until there is another token", () => {
  const { net, server, connection } = setup();
  server.refuses = true;
  connection.start("ann");
  net.deliverAll();
  expect(connection.state).toEqual({ name: "refused", code: "unauthenticated", message: "sign in again" });
  vi.advanceTimersByTime(600_000);
  expect(net.sockets.length).toBe(1);
  server.refuses = false;
  connection.refresh("bo");
  net.deliverAll();
  expect(connection.state.name).toBe("live");
});

test("a server that never answers the handshake is given up", () => {
  const { connection } = setup();
  connection.start("ann");
  vi.advanceTimersByTime(10_000);
  expect(connection.state).toMatchObject({ name: "waiting", reason: "the server doesn’t answer" });
});

test("silence after a question is a loss; without a question it is none", () => {
  const { net, connection } = setup();
  connection.start("ann");
  net.deliverAll();
  vi.advanceTimersByTime(10 * HEARTBEAT_MS);
  expect(connection.state.name).toBe("live");
  connection.quiet.add((probed) => probed());
  vi.advanceTimersByTime(HEARTBEAT_MS + 10_000);
  expect(connection.state).toMatchObject({ name: "waiting", reason: "the server doesn’t answer" });
});

test("a stopped connection stays stopped, and an old socket is not heard", () => {
  const { net, connection } = setup();
  connection.start("ann");
  net.deliverAll();
  const old = net.current;
  connection.stop();
  vi.advanceTimersByTime(100_000);
  expect([connection.state.name, net.sockets.length, old.isClosed, old.onmessage]).toEqual(["idle", 1, true, null]);
});

test("it knows whether a socket has ever come through", () => {
  const { net, connection } = setup();
  connection.start("ann");
  net.cut();
  vi.advanceTimersByTime(5_000);
  expect(connection.hasBeenLive).toBe(false);
  net.accept();
  net.deliverAll();
  expect(connection.hasBeenLive).toBe(true);
  net.cut();
  expect(connection.hasBeenLive).toBe(true);
});
