"""The contract of the file tools, for every home of files on the kernel's side."""

from __future__ import annotations

import pytest
from deepagents.backends import StateBackend, StoreBackend

from deepnb.files import Client, Folder, mounts
from tests.file_contract import *  # noqa: F403  # the tests
from tests.file_contract import Home


def build(kind: str, disk: Folder) -> Home:
    table = mounts(workspace=disk, client=True, store=True)
    return {
        "state": lambda: Home(StateBackend()),
        "store": lambda: Home(StoreBackend(namespace=lambda _runtime: ("files",))),
        "folder": lambda: Home(disk),
        "folder, async": lambda: Home(disk, is_async=True),
        "client": lambda: Home(Client(), client=disk),
        "client, async": lambda: Home(Client(), client=disk, is_async=True),
        "/workspace/": lambda: Home(table, "/workspace/"),
        "/workspace/, async": lambda: Home(table, "/workspace/", is_async=True),
        "/files/": lambda: Home(table, "/files/", client=disk),
        "/files/, async": lambda: Home(table, "/files/", client=disk, is_async=True),
        "/files/, headless": lambda: Home(mounts(client=disk), "/files/"),
        "/memories/": lambda: Home(table, "/memories/", client=disk),
        "/memories/, async": lambda: Home(table, "/memories/", client=disk, is_async=True),
        "/scratch/": lambda: Home(table, "/scratch/", client=disk),
        "/scratch/, async": lambda: Home(table, "/scratch/", client=disk, is_async=True),
    }[kind]()


KINDS = ["state", "store", "folder", "client", "client, async", "/workspace/", "/files/"]
KINDS += ["/files/, async", "/files/, headless", "/memories/", "/scratch/", "/scratch/, async"]
KINDS += ["folder, async", "/workspace/, async", "/memories/, async"]


@pytest.fixture(params=KINDS)
def home(request, tmp_path):
    return build(request.param, Folder(tmp_path))


@pytest.fixture(params=[kind for kind in KINDS if kind not in ("state", "store")])
def careful_home(request, tmp_path):
    return build(request.param, Folder(tmp_path))
