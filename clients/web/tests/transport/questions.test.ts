// Questions to kernels: answered in any order, only if the server supports them, and never left pending.
import { expect, test } from "vitest";
import type { KernelAnswer, ServerMessage } from "../../src/protocol/messages.ts";
import { Connection } from "../../src/transport/connection.ts";
import { type Question, Questions } from "../../src/transport/questions.ts";
import { FakeNet } from "../support/net.ts";
import { NOTEBOOK, ReferenceServer } from "../support/server.ts";

const question: Question = { code: "x.", cursor: 2, kind: { complete: {} } };
const answer = (text: string): KernelAnswer => ({ completed: { from: 2, to: 2, matches: [{ text }] } });

function setup(features: string[]) {
  const server = new ReferenceServer();
  server.features = features;
  const net = new FakeNet(server);
  const connection = new Connection({ open: net.open, client: "test", random: () => 0.5 });
  const questions = new Questions(connection, NOTEBOOK);
  connection.start("ann");
  net.deliverAll();
  const hear = (message: ServerMessage) => net.current.onmessage?.({ data: JSON.stringify(message) });
  const answered = (id: number, notebook: string, text: string) => hear({ kernel_answer: { id, notebook, answer: answer(text) } });
  return { net, connection, questions, answered };
}

test("each question gets its own answer, and another notebook's is none", async () => {
  const { net, questions, answered } = setup(["kernel_questions"]);
  const [first, second] = [questions.ask(question), questions.ask({ ...question, cell_id: "a" })];
  const sent = net.current.toServer.map((text) => JSON.parse(text) as unknown);
  expect(sent).toEqual([
    { ask_kernel: { id: 1, notebook: NOTEBOOK, ...question } },
    { ask_kernel: { id: 2, notebook: NOTEBOOK, ...question, cell_id: "a" } },
  ]);
  answered(1, "another", "wrong");
  answered(2, NOTEBOOK, "two");
  answered(1, NOTEBOOK, "one");
  expect(await Promise.all([first, second])).toEqual([answer("one"), answer("two")]);
});

test("an older server is not asked, and a lost connection answers nothing", async () => {
  const old = setup([]);
  expect(await old.questions.ask(question)).toBeUndefined();
  expect(old.net.current.toServer).toEqual([]);
  const { net, connection, questions } = setup(["kernel_questions"]);
  const lost = questions.ask(question);
  net.cut();
  expect(await lost).toBeUndefined();
  expect(await questions.ask(question)).toBeUndefined();
  connection.stop();
});
