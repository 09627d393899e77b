"""A scripted model: the part of OpenAI's chat completions that a turn needs. It answers every question with one text."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "The answer is 42."


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        head = {"id": "reply", "object": "chat.completion.chunk", "model": "script"}
        deltas = [({"role": "assistant"}, None), ({"content": ANSWER}, None), ({}, "stop")]
        for delta, reason in deltas:
            self.write({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
        self.write({**head, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def write(self, chunk):
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *_):
        """Prints nothing."""


def start():
    """Returns the model's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
