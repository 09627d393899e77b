// Uses the npm package with a server: node use.mjs SERVER TOKEN
import assert from "node:assert/strict";
import { Connection, Replica, Rest } from "notarium-client";

const [server, token] = process.argv.slice(2);
const api = new Rest({ base: server, token: () => token });
const made = await api.json("POST", "/api/notebooks", { title: "By the npm package" });
const { notebooks } = await api.json("GET", "/api/notebooks");
assert.ok(notebooks.some(({ id }) => id === made.notebook));
assert.ok(Replica && Connection);
if (typeof WebSocket === "function") {
  const open = () => new WebSocket(`${server.replace("http", "ws")}/api/socket`, ["notarium"]);
  const connection = new Connection({ open, client: "test/1" });
  await new Promise((resolve, reject) => {
    connection.changed.add(() => {
      if (connection.state.name === "live") resolve();
      if (connection.state.name === "refused") reject(new Error(connection.state.message));
    });
    connection.start(token);
  });
  connection.stop();
  console.log("the npm package asks over REST and connects");
} else console.log("the npm package asks over REST; this Node has no WebSocket");
