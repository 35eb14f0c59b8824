"""A JupyterLab of the tests' own, with a kernel of each kind that people have."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import requests

OVERLAYS = Path(sys.prefix) / "kernels"  # made by `make kernels`
KERNELS = {"7.4": "python3", "7.3": "ipykernel-7.3", "6.31": "ipykernel-6.31"}
"""The versions of ipykernel, and the kernel specs that run them: first the environment's own."""

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},  # a test that wants it saved says so
}
OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--port=0",  # any that is free
    "--ServerApp.terminals_enabled=False",
    "--ServerApp.tornado_settings={'page_config_data': {'buildCheck': False}}",  # takes a second
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
]


class Server:
    """JupyterLab and Notebook on one port, in a folder that nobody else uses."""

    def __init__(self, home):
        self.root = home / "root"
        self.root.mkdir()
        self._runtime = home / "runtime"
        self.log = home / "server.log"
        for name, values in SETTINGS.items():
            path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        _write_kernel_specs(home / "data" / "kernels")
        environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self._runtime),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "IPYTHONDIR": str(home / "ipython"),
        }
        command = [sys.executable, "-m", "jupyterlab", *OPTIONS]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [*command, f"--ServerApp.root_dir={self.root}"],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.url, self.token = self._wait()

    def _wait(self):
        info = self._runtime / f"jpserver-{self._process.pid}.json"
        end = time.monotonic() + 60
        while time.monotonic() < end and self._process.poll() is None:
            if info.exists() and info.read_text().endswith("}"):
                facts = json.loads(info.read_text())
                return facts["url"], facts["token"]
            time.sleep(0.1)
        self.close()
        raise RuntimeError(f"JupyterLab has not started.\n{self.log.read_text()}")

    def api(self, method, path):
        """Call the server's own interface; what it gives, if anything."""
        headers = {"Authorization": f"token {self.token}"}
        answer = requests.request(method, f"{self.url}api/{path}", headers=headers, timeout=30)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def pid(self, kernel_id):
        """Give the process of a kernel."""
        for process in psutil.Process(self._process.pid).children(recursive=True):
            if any(kernel_id in argument for argument in process.cmdline()):
                return process.pid
        raise LookupError(f"No process of the kernel {kernel_id}")

    def end_kernels(self):
        """End every kernel, so that the next test has the machine for itself."""
        for session in self.api("GET", "sessions"):
            with suppress(LookupError):  # it has ended already
                os.kill(self.pid(session["kernel"]["id"]), signal.SIGKILL)  # to ask takes a second
            self._forget(session["id"])

    def _forget(self, session, tries=10):
        """End a session, also if the server is just about to start its kernel anew."""
        try:
            self.api("DELETE", f"sessions/{session}")
        except requests.HTTPError as error:
            if error.response.status_code == requests.codes.not_found:
                return
            if not tries:
                raise
            time.sleep(0.5)
            self._forget(session, tries - 1)

    def close(self):
        end(self._process)


def end(process):
    """End a server and all that it has started, whether or not it wants to."""
    everyone = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for each in everyone:
        with suppress(psutil.NoSuchProcess):
            each.terminate()
    _, stubborn = psutil.wait_procs(everyone, timeout=5)
    for each in stubborn:
        each.kill()
    process.wait()


def _write_kernel_specs(folder):
    """Have a folder with another ipykernel come before the environment's own."""
    for version, name in KERNELS.items():
        if name == "python3":
            continue  # comes with the environment
        (folder / name).mkdir(parents=True)
        launch = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {
            "argv": [sys.executable, *launch],
            "display_name": name,
            "language": "python",
            "env": {"PYTHONPATH": str(OVERLAYS / version)},
        }
        (folder / name / "kernel.json").write_text(json.dumps(spec))
