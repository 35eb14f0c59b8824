/** Loading the file explorer's code. */

import { afterEach, expect, it, vi } from "vitest";

import { Explorer } from "../src/explorer";
import type { Store } from "../src/store";
import { FakeKernel, until } from "./files-kernel";

it("is not tried again with every event once it has failed, but when the reader asks, or the kernel is back", async () => {
  const kernel = new FakeKernel(); // which has no code to give
  const page = kernel.page();
  kernel.mappings = [{ id: "m", browser: "b", source: "/a", target: "/a", is_folder: true, mode: "sync", done: false }];
  const explorer = new Explorer(page.client);
  explorer.follow(page.store as unknown as Store);
  await until(() => explorer.problem !== "");
  for (let event = 0; event < 3; event += 1) {
    kernel.changed();
    explorer.look();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(kernel.count("load_files")).toBe(1);
  expect(explorer.problem).toBe("no load_files");
  await explorer.open();
  expect(kernel.count("load_files")).toBe(2);
  page.cut();
  page.reconnect();
  await until(() => kernel.count("load_files") === 3);
  explorer.close();
});

afterEach(() => vi.unstubAllGlobals());

it.each([[1, "has"], [0, "does not have"]])("is asked for %i times ahead in a browser that %s files of this workspace", async (count) => {
  const kernel = new FakeKernel();
  const page = kernel.page();
  const name = `deepnb:${page.store.facts!.files!.shelf}`;
  vi.stubGlobal("indexedDB", { databases: async () => [{ name: count ? name : "deepnb:another" }] });
  vi.stubGlobal("requestIdleCallback", (work: () => void) => setTimeout(work));
  const explorer = new Explorer(page.client);
  explorer.follow(page.store as unknown as Store);
  explorer.look();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(kernel.count("load_files")).toBe(count);
  explorer.close();
});

it("is tried again for whoever wants it, if it has failed before anybody did", async () => {
  const kernel = new FakeKernel();
  const page = kernel.page();
  const explorer = new Explorer(page.client);
  explorer.follow(page.store as unknown as Store);
  await explorer.openAhead();
  await explorer.openAhead();
  expect(kernel.count("load_files")).toBe(1);
  kernel.mappings = [{ id: "m", browser: "b", source: "/a", target: "/a", is_folder: true, mode: "sync", done: false }];
  explorer.look();
  await until(() => kernel.count("load_files") === 2);
  explorer.close();
});
