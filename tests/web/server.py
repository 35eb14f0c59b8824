"""A web server on this machine that counts who connects, and answers as it is told."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Headers = dict[str, str]
Answer = tuple[int, Headers, bytes] | Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Web:
    url: str = ""
    port: int = 0
    connections: int = 0
    requests: list[tuple[str, Headers, bytes]] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)

    def page(self, path: str, text: str | bytes, kind: str = "text/html", **headers: str) -> str:
        """Have a page answered, and give its address."""
        content = text.encode() if isinstance(text, str) else text
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = (200, {"Content-Type": kind, **named}, content)
        return self.url + path

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        self.answers[path] = (status, {"Location": target}, b"")
        return self.url + path


@contextmanager
def web_server(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Web]:
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            web.requests.append((self.path, dict(self.headers), body))
            answer = web.answers.get(self.path.partition("?")[0], (404, {}, b"nothing"))
            if callable(answer):
                answer(self)
                return
            status, headers, content = answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def get_request(self) -> Any:
            web.connections += 1
            return super().get_request()

        def handle_error(self, *_: object) -> None:
            """A client that hangs up is what many of these tests are about."""

    server = Server((host, 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    web.port = server.server_port
    web.url = f"{'https' if tls else 'http'}://{host}:{web.port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
