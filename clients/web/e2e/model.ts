// Scripted model: the part of OpenAI's chat completions that a turn needs.
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Reply {
  text?: string;
  calls?: { name: string; arguments: Record<string, unknown> }[];
  /** HTTP status of a refusal. */
  status?: number;
  /** Delay before each piece of the text. */
  pieceMs?: number;
}

interface Message {
  role: string;
  content?: unknown;
  tool_call_id?: string;
}

/** Last message of a person, and the tool results since then. */
export interface Asked {
  text: string;
  results: string[];
}

export type Script = (asked: Asked) => Reply;

export class ScriptedModel {
  script: Script = () => ({ text: "I have nothing to say." });
  /** Complete body of the last request. */
  heard = "";
  readonly #server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += String(piece)));
    request.on("end", () => {
      if (!request.url?.endsWith("/chat/completions")) return void response.writeHead(404).end();
      this.heard = body;
      const { messages } = JSON.parse(body) as { messages: Message[] };
      const reply = this.script(asked(messages));
      if (reply.status !== undefined) return void response.writeHead(reply.status).end("{}");
      response.writeHead(200, { "content-type": "text/event-stream" });
      void this.#answer(reply, (data) => response.write(`data: ${data}\n\n`)).then(() => response.end());
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer({ text = "", calls = [], pieceMs = 0 }: Reply, write: (data: string) => void): Promise<void> {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      write(
        JSON.stringify({
          id: "reply",
          object: "chat.completion.chunk",
          model: "script",
          choices: [{ index: 0, delta, finish_reason }],
        }),
      );
    chunk({ role: "assistant" });
    for (const piece of text.match(/[^]{1,12}/gu) ?? []) {
      if (pieceMs > 0) await new Promise((resolve) => setTimeout(resolve, pieceMs));
      chunk({ content: piece });
    }
    calls.forEach(({ name, arguments: args }, index) => {
      const id = `call_${Math.random().toString(36).slice(2)}`;
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] });
    });
    chunk({}, calls.length > 0 ? "tool_calls" : "stop");
    write(
      JSON.stringify({
        ...{ id: "reply", object: "chat.completion.chunk", model: "script", choices: [] },
        usage: { prompt_tokens: 1234, completion_tokens: 56, total_tokens: 1290 },
      }),
    );
    write("[DONE]");
  }
}

function asked(messages: Message[]): Asked {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(last + 1).filter(({ role }) => role === "tool");
  return { text: words(messages[last]?.content), results: results.map(({ content }) => words(content)) };
}

function words(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("\n") : "";
}
