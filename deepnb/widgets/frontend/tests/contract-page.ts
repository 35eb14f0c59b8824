/** What the contract suite of the file tools drives in a real browser (tests/browser/test_client_contract.py). */

import { openShelf } from "../src/files/shelf";
import { runTool } from "../src/files/tools";
import type { Shelf } from "../src/files/types";

let shelf: Shelf;

/** Opens a store of its own for a test; for "real", with a folder on disk, which the origin's private one stands in for. */
async function start(name: string, kind: "kept" | "real"): Promise<string> {
  shelf = await openShelf(name);
  if (kind === "real") {
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true });
    await shelf.openFolder(await root.getDirectoryHandle("docs", { create: true }));
  }
  return shelf.trouble;
}

// What crosses over is JSON in ASCII: half characters would not survive otherwise.

async function answerAll(requests: string): Promise<string> {
  const answers: unknown[] = [];
  for (const { tool, args, question } of JSON.parse(requests)) answers.push(await runTool(shelf, tool, args, question));
  return JSON.stringify(answers);
}

async function put(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await shelf.write(path, new Blob([Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0))]));
  }
}

/** All files, with their bytes. */
async function dump(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { path, isDir } of await shelf.entries()) {
    if (isDir) continue;
    const bytes = new Uint8Array(await (await shelf.read(path)).arrayBuffer());
    found[path] = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }
  return found;
}

Object.assign(globalThis, { contract: { start, answerAll, put, dump, openShelf, runTool, shelf: () => shelf } });
