"""The file tools of the browser, in a page of their own, for the tests to talk to."""

from __future__ import annotations

import base64
import json
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

FRONTEND = Path(__file__).parents[2] / "deepnb" / "widgets" / "frontend"
PAGE = '<!doctype html><meta charset="utf-8"><script type="module" src="page.js"></script>'


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_args):
        pass


class Site:
    """A page with the tools in it, built from the sources, on this machine."""

    def __init__(self, folder):
        command = ["node_modules/.bin/esbuild", "tests/contract-page.ts", "--bundle"]
        command += ["--format=esm", "--target=es2022", "--log-level=error"]
        subprocess.run([*command, f"--outfile={folder}/page.js"], cwd=FRONTEND, check=True)
        (folder / "index.html").write_text(PAGE)
        handler = partial(Quiet, directory=str(folder))
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()


_stores = count(1)


class Browser:
    """The files of a page, each with a store of its own; `real` ones are in a folder, /docs."""

    def __init__(self, page, kind):
        self.page = page
        self.name = f"contract-{next(_stores)}"
        self.kind = kind
        self.open()

    def open(self):
        """Open the store, again after the page was loaded again."""
        self.page.wait_for_function("() => globalThis.contract")
        start = "([name, kind]) => contract.start(name, kind)"
        assert self.page.evaluate(start, [self.name, self.kind]) == ""

    def answer_all(self, requests):
        answer = self.page.evaluate(
            "requests => contract.answerAll(requests)", json.dumps(requests)
        )
        return json.loads(answer)

    def answer(self, request):
        return self.answer_all([request])[0]

    def put(self, files):
        encoded = {path: base64.b64encode(content).decode() for path, content in files.items()}
        self.page.evaluate("files => contract.put(files)", encoded)

    def dump(self):
        found = self.page.evaluate("() => contract.dump()")
        return {path: base64.b64decode(content) for path, content in found.items()}
