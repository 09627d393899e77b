"""Scripted model: OpenAI's chat completions over HTTP, as a provider of the family `compatible`."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
# Messages and tool results → text and tool calls of the answer.
Script = Callable[[list[Json]], "tuple[str, list[tuple[str, Json]]]"]


class ScriptedModel:
    """Model whose answers come from `script`."""

    def __init__(self) -> None:
        self.script: Script = lambda messages: ("I have nothing to do.", [])
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text, calls = model.script(asked["messages"])
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for delta in deltas(text, calls):
                    self.chunk({"delta": delta, "index": 0, "finish_reason": None})
                self.chunk({"delta": {}, "index": 0, "finish_reason": "tool_calls" if calls else "stop"})
                self.wfile.write(b"data: [DONE]\n\n")

            def chunk(self, choice: Json) -> None:
                body = {"id": "x", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}
                self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ScriptedModel":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def deltas(text: str, calls: list[tuple[str, Json]]) -> list[Json]:
    words = [{"role": "assistant", "content": word + " "} for word in text.split()]
    return words + [
        {"tool_calls": [{"index": n, "id": f"call_{n}", "type": "function",
                         "function": {"name": name, "arguments": json.dumps(arguments)}}]}
        for n, (name, arguments) in enumerate(calls)
    ]  # fmt: skip


def calls_once(text: str, *calls: tuple[str, Json], then: str = "Done.") -> Script:
    """Script: answers a user's message with these calls, and the tool results with `then`."""

    def script(messages: list[Json]) -> tuple[str, list[tuple[str, Json]]]:
        return (then, []) if messages[-1]["role"] == "tool" else (text, list(calls))

    return script
