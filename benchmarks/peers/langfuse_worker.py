"""Langfuse's client with its cache; a server on loopback answers the one fetch that fills it."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

from benchmarks.peers.wire import serve

_NAME = "shop-prompt"
_HOUR = 3600


def cached(*, folder: str, text: str) -> Callable[[], str]:  # noqa: ARG001 - it keeps nothing
    """Get a prompt from the client's cache."""

    class _Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            prompt = {"type": "text", "name": _NAME, "version": 1, "prompt": text, "config": {}, "tags": []}
            data = json.dumps({**prompt, "labels": ["production"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = importlib.import_module("langfuse").Langfuse(
        public_key="pk",
        secret_key="sk",  # noqa: S106 - the server asks for none
        base_url=f"http://127.0.0.1:{server.server_port}",
        tracing_enabled=False,
    )

    def get() -> str:
        return str(client.get_prompt(_NAME, label="production", cache_ttl_seconds=_HOUR).prompt)

    get()
    server.shutdown()
    return get


if __name__ == "__main__":
    serve({"cached": cached})
