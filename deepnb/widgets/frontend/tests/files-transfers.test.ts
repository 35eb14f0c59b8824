import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { RefusedError } from "../src/client";
import { openShelf } from "../src/files/shelf/index";
import { FileTransfers } from "../src/files/transfers";
import { FileError, type UploadJob } from "../src/files/types";
import { KernelWorkspace } from "../src/files/workspace";
import { FakeKernel, FakeShelf, hashOf, MB, until, type FakePage } from "./files-kernel";

let kernel: FakeKernel;
let page: FakePage;
let shelf: FakeShelf;
let workspace: KernelWorkspace;
let transfers: FileTransfers;

beforeEach(() => {
  kernel = new FakeKernel();
  page = kernel.page();
  shelf = new FakeShelf();
  workspace = new KernelWorkspace(page);
  transfers = new FileTransfers(page.client, shelf, workspace);
});
afterEach(() => {
  vi.useRealTimers();
  transfers.close();
  workspace.close();
});

/** Content in which every place is told from every other. */
function content(size: number): Uint8Array {
  const numbers = Uint32Array.from({ length: Math.ceil(size / 1024) }, (_, place) => place + 1);
  const data = new Uint8Array(size);
  for (const number of numbers) data.fill(number % 251, (number - 1) * 1024, number * 1024);
  return data;
}

function job(source: string, more: Partial<UploadJob> = {}): UploadJob {
  return { purpose: "copy", source, target: source, expects: "", ...more };
}

/** Keeps the parts of a file from some place on from being answered, until they are let go. */
function stall(path: string, from: number): () => void {
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  kernel.before = (type, fields) => {
    const isOfIt = type === "upload_chunk" && kernel.uploads.get(String(fields["upload"]))?.path === path;
    if (isOfIt && Number(fields["offset"]) >= from) return gone;
  };
  return letGo;
}

function offsets(): number[] {
  return kernel.asked.filter(({ type }) => type === "upload_chunk").map(({ fields }) => Number(fields["offset"]));
}

describe("a large file from the reader's disk", () => {
  it("is read without a kernel, with its progress, and can be given up", async () => {
    const shelf = await openShelf("large");
    const own = new FileTransfers(page.client, shelf, workspace);
    page.cut();
    const fields = { target: "/big.bin", content: new Blob([content(30 * MB) as BlobPart]), expects: "" };
    const given = fields.content.slice.bind(fields.content);
    const seen: number[] = [];
    fields.content.slice = (from, to) => {
      const { id, done } = own.list[0]!;
      seen.push(done);
      if (from) own.cancel(id);
      return given(from, to);
    };
    await expect(own.keep(fields)).rejects.toThrow("You have cancelled “/big.bin”.");
    expect([seen, own.list, await shelf.entries()]).toEqual([[0, 8 * MB], [], []]);

    fields.content.slice = given;
    const kept = own.keep(fields);
    expect(own.list).toMatchObject([{ direction: "in", state: "running", size: 30 * MB }]);
    expect(await kept).toMatchObject({ path: "/big.bin", size: 30 * MB });
    expect(own.list).toEqual([]);
    expect(await shelf.hash("/big.bin")).toBe(hashOf(content(30 * MB)));
  });
});

describe("an upload", () => {
  it("arrives in parts, with at most three of them unanswered", async () => {
    const data = content(5.5 * MB);
    shelf.kept.set("/big.bin", data);
    const stored = await transfers.upload(job("/big.bin"));
    expect(stored).toEqual({ path: "/big.bin", size: data.length, sha256: hashOf(data) });
    expect(hashOf(kernel.files.get("/big.bin")!)).toBe(hashOf(data));
    expect(offsets()).toEqual(Array.from({ length: 6 }, (_, part) => part * MB));
    expect(kernel.most).toBe(3);
  });

  it("goes as text where bytes beside messages are lost", async () => {
    kernel.buffers = false;
    const data = content(2 * MB + 7);
    shelf.kept.set("/a.bin", data);
    await transfers.upload(job("/a.bin"));
    expect(hashOf(kernel.files.get("/a.bin")!)).toBe(hashOf(data));
    expect(kernel.asked.filter(({ fields }) => fields["data"]).length).toBe(3);
  });

  it("of nothing makes an empty file", async () => {
    shelf.put("/empty", "");
    expect(await transfers.upload(job("/empty"))).toMatchObject({ size: 0 });
    expect(kernel.text("/empty")).toBe("");
    expect(kernel.count("upload_chunk")).toBe(0);
  });

  it("that is cut off waits, says so, and goes on from what has arrived", async () => {
    const data = content(8 * MB);
    shelf.kept.set("/big.bin", data);
    const letGo = stall("/big.bin", 3 * MB);
    const done = transfers.upload(job("/big.bin"));
    await until(() => transfers.list[0]!.done === 3 * MB);
    page.cut();
    letGo();
    await until(() => transfers.list[0]!.state === "paused");
    expect(transfers.list[0]!.problem).toMatch(/goes on by itself/);
    const before = offsets().length;
    const received = [...kernel.uploads.values()][0]!.data.length;
    page.reconnect();
    expect((await done).sha256).toBe(hashOf(data));
    expect(offsets()[before]).toBe(received);
    expect(received).toBeGreaterThan(0);
  });

  it("goes on also from what an earlier page has sent", async () => {
    const data = content(6 * MB);
    shelf.kept.set("/big.bin", data);
    const letGo = stall("/big.bin", 2 * MB);
    const done = transfers.upload(job("/big.bin")).catch((error: Error) => error.message);
    await until(() => transfers.list[0]!.done === 2 * MB);
    transfers.close();
    letGo();
    expect(await done).toMatch(/closed/);
    expect(kernel.count("cancel_upload")).toBe(0);
    const before = offsets().length;
    await new FileTransfers(page.client, shelf, workspace).upload(job("/big.bin"));
    expect(offsets()[before]).toBeGreaterThanOrEqual(2 * MB);
    expect(hashOf(kernel.files.get("/big.bin")!)).toBe(hashOf(data));
  });

  it("begins again where the kernel misses a part", async () => {
    const lost = [3 * MB];
    kernel.before = (type, fields) => {
      if (type === "upload_chunk" && lost[0] === fields["offset"]) throw new RefusedError("DeepnbError", `missing ${lost.pop()}`);
    };
    const data = content(6 * MB);
    shelf.kept.set("/big.bin", data);
    await transfers.upload(job("/big.bin"));
    expect(hashOf(kernel.files.get("/big.bin")!)).toBe(hashOf(data));
    expect(kernel.count("begin_upload")).toBe(2);
  });

  it("fails where the kernel never takes a part, and says why", async () => {
    kernel.before = (type, fields) => {
      if (type === "upload_chunk" && fields["offset"]) throw new RefusedError("DeepnbError", "The workspace's disk is full.");
    };
    shelf.kept.set("/big.bin", content(2 * MB));
    await expect(transfers.upload(job("/big.bin"))).rejects.toThrow("The workspace's disk is full.");
    expect(transfers.list[0]).toMatchObject({ state: "failed", done: MB });
  });

  it("can be paused and resumed", async () => {
    shelf.kept.set("/big.bin", content(6 * MB));
    const letGo = stall("/big.bin", MB);
    const done = transfers.upload(job("/big.bin"));
    await until(() => transfers.list[0]!.done === MB);
    const { id } = transfers.list[0]!;
    transfers.pause(id);
    expect(transfers.list[0]).toMatchObject({ state: "paused", problem: "" });
    letGo();
    await until(() => [...kernel.unanswered.values()].every((count) => !count));
    const before = offsets().length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(offsets().length).toBe(before);
    expect(kernel.files.has("/big.bin")).toBe(false);
    transfers.resume(id);
    await done;
    expect(transfers.list[0]!.state).toBe("done");
    expect(new Set(offsets()).size).toBe(6);
  });

  it("that is cancelled leaves nothing, and lets the next one go", async () => {
    for (const name of ["/a", "/b", "/c"]) shelf.kept.set(name, content(3 * MB));
    const letGo = stall("/a", MB);
    const all = ["/a", "/b", "/c"].map((name) => transfers.upload(job(name)));
    const failed = all[0]!.catch((error: FileError) => error.message);
    await until(() => transfers.list[0]!.done === MB);
    transfers.cancel(transfers.list[0]!.id);
    letGo();
    expect(await failed).toMatch(/You have cancelled “\/a”/);
    expect(transfers.list.some(({ source }) => source === "/a")).toBe(false);
    await Promise.all(all.slice(1));
    expect([...kernel.files.keys()].sort()).toEqual(["/b", "/c"]);
    expect(kernel.uploads.size).toBe(0);
  });

  it("can be cancelled while it is paused", async () => {
    shelf.kept.set("/a", content(3 * MB));
    const letGo = stall("/a", MB);
    const failed = transfers.upload(job("/a")).catch((error: FileError) => error.message);
    await until(() => transfers.list[0]!.done === MB);
    letGo();
    transfers.pause(transfers.list[0]!.id);
    transfers.cancel(transfers.list[0]!.id);
    expect(await failed).toMatch(/cancelled/);
    expect(transfers.list).toEqual([]);
  });

  it("overwrites nothing that it does not expect", async () => {
    shelf.put("/a.md", "mine");
    kernel.put("/a.md", "somebody else's");
    const error = await transfers.upload(job("/a.md")).catch((each: FileError) => each);
    expect(error).toMatchObject({ kind: "changed" });
    expect(kernel.text("/a.md")).toBe("somebody else's");
    expect(transfers.list[0]).toMatchObject({ state: "failed", problem: "Something else is there by now." });
  });

  it("of a file that vanishes while it is read fails, and can be sent again", async () => {
    shelf.put("/a.md", "mine");
    const read = vi.spyOn(shelf, "read").mockImplementationOnce(async () => {
      const blob = new Blob(["mine"]);
      const gone = () => Promise.reject(new DOMException("gone", "NotReadableError"));
      return Object.assign(blob, { arrayBuffer: gone });
    });
    const error = await transfers.upload(job("/a.md")).catch((each: FileError) => each);
    expect(error).toMatchObject({ kind: "changed", message: expect.stringContaining("send it again") });
    transfers.resume(transfers.list[0]!.id);
    await until(() => kernel.text("/a.md") === "mine");
    expect(read).toHaveBeenCalledTimes(2);
    expect(transfers.list.length).toBe(1);
  });

  it("of a file that has become another one is refused by its hash", async () => {
    shelf.put("/a.md", "mine");
    vi.spyOn(shelf, "read").mockResolvedValueOnce(new Blob(["yore"]));
    const error = await transfers.upload(job("/a.md")).catch((each: FileError) => each);
    expect(error).toMatchObject({ kind: "changed" });
    expect(kernel.files.size).toBe(0);
  });

  it("of a small file is one message", async () => {
    shelf.put("/a.md", "mine");
    shelf.put("/none.md", "");
    for (const name of ["/a.md", "/none.md"]) await transfers.upload(job(name));
    expect([kernel.text("/a.md"), kernel.text("/none.md")]).toEqual(["mine", ""]);
    expect(kernel.asked.map(({ type }) => type)).toEqual(["send_files", "send_files"]);
  });

  it("goes with others in one message, and what is wrong with one is not wrong with the others", async () => {
    for (const name of ["/a.md", "/b.md", "/c.md"]) shelf.put(name, `text of ${name}`);
    kernel.put("/b.md", "theirs");
    const results = await Promise.allSettled(["/a.md", "/b.md", "/c.md"].map((name) => transfers.upload(job(name))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(kernel.count("send_files")).toBe(1);
  });

  it("for the index goes under its own path", async () => {
    shelf.put("/notes/a.md", "text");
    await transfers.upload(job("/notes/a.md", { purpose: "index", target: "" }));
    const { files } = kernel.asked.find(({ type }) => type === "send_files")!.fields as unknown as { files: object[] };
    expect(files).toMatchObject([{ path: "/notes/a.md", purpose: "index" }]);
  });

  it("goes beside others: many small ones at once, two large ones", async () => {
    let [small, large, mostSmall, mostLarge] = [0, 0, 0, 0];
    kernel.before = (type, fields) => {
      const change = type === "begin_upload" ? 1 : type === "end_upload" ? -1 : 0;
      const size = type === "begin_upload" ? Number(fields["size"]) : (kernel.uploads.get(String(fields["upload"]))?.size ?? 0);
      if (size > MB) mostLarge = Math.max(mostLarge, (large += change));
      else mostSmall = Math.max(mostSmall, (small += change));
    };
    const names = Array.from({ length: 40 }, (_, number) => `/${number}`);
    for (const name of names) shelf.kept.set(name, content(MB / 8));
    for (const name of ["/x", "/y", "/z"]) shelf.kept.set(name, content(2 * MB));
    await Promise.all([...names, "/x", "/y", "/z"].map((name) => transfers.upload(job(name))));
    expect(kernel.files.size).toBe(43);
    expect(mostSmall).toBeGreaterThan(3);
    expect(mostLarge).toBe(2);
  });

  it("tells how fast it is", async () => {
    const letGo = stall("/big.bin", 3 * MB);
    shelf.kept.set("/big.bin", content(4 * MB));
    const done = transfers.upload(job("/big.bin"));
    await until(() => transfers.list[0]!.done === 3 * MB);
    expect(transfers.list[0]!.speed).toBeGreaterThan(0);
    letGo();
    await done;
    expect(transfers.list[0]).toMatchObject({ state: "done", speed: 0 });
  });
});

describe("a download", () => {
  it("is put together from parts, and replaces only what it expects", async () => {
    const data = content(2.5 * MB);
    kernel.files.set("/big.bin", data);
    const fields = { purpose: "copy", source: "/big.bin", target: "/mine.bin", expects: "", size: data.length } as const;
    const { sha256 } = await transfers.download(fields);
    expect(sha256).toBe(hashOf(data));
    expect(hashOf(shelf.kept.get("/mine.bin")!)).toBe(sha256);
    await expect(transfers.download(fields)).rejects.toMatchObject({ kind: "changed" });
  });

  it("asks for text where bytes beside messages are lost", async () => {
    kernel.buffers = false;
    kernel.put("/a.md", "theirs");
    await transfers.download({ purpose: "copy", source: "/a.md", target: "/a.md", expects: "", size: 6 });
    expect(shelf.text("/a.md")).toBe("theirs");
  });

  it("is never made of two versions", async () => {
    const data = content(3 * MB);
    kernel.files.set("/big.bin", data);
    kernel.before = (type, fields) => void (type === "download_chunk" && fields["offset"] && kernel.put("/big.bin", "new"));
    const fields = { purpose: "copy", source: "/big.bin", target: "/b", expects: "", size: data.length } as const;
    await expect(transfers.download(fields)).rejects.toMatchObject({ kind: "changed" });
    expect(shelf.kept.size).toBe(0);
  });

  it("goes on after a cut", async () => {
    const data = content(3 * MB);
    kernel.files.set("/big.bin", data);
    kernel.before = () => new Promise((resolve) => setTimeout(resolve, 10));
    const done = transfers.download({ purpose: "copy", source: "/big.bin", target: "/b", expects: "", size: data.length });
    await until(() => transfers.list[0]!.done >= MB);
    page.cut();
    await until(() => transfers.list[0]!.state === "paused");
    page.reconnect();
    expect((await done).sha256).toBe(hashOf(data));
    const asked = kernel.asked.filter(({ type }) => type === "download_chunk").map(({ fields }) => Number(fields["offset"]));
    expect(asked.filter((offset) => offset === 0).length).toBe(1);
  });
});

describe("the workspace", () => {
  it("is listed again when it has changed, as long as somebody looks", async () => {
    kernel.put("/a.md", "one");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kernel.count("list_workspace")).toBe(0);
    workspace.subscribe(() => {});
    await until(() => workspace.files?.length === 1);
  });

  it("is listed at most every two seconds by itself, however much arrives, and then as it is", async () => {
    vi.useFakeTimers();
    workspace.subscribe(() => {});
    for (let number = 0; number < 50; number += 1) {
      kernel.put(`/${number}.md`, "text");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(kernel.count("list_workspace")).toBeLessThanOrEqual(3);
    await vi.advanceTimersByTimeAsync(2000);
    expect(workspace.files?.length).toBe(50);
  });

  it("does not wait for ever for a kernel that does not answer", async () => {
    vi.useFakeTimers();
    kernel.before = () => new Promise(() => {});
    const listed = workspace.refresh();
    await vi.advanceTimersByTimeAsync(60_100);
    await listed;
    expect(workspace.problem).toBe("The kernel has not answered.");
    kernel.before = () => {};
    vi.useRealTimers();
    await workspace.refresh();
    expect(workspace.problem).toBe("");
  });

  it("keeps what it knows when the kernel refuses, and tells why", async () => {
    kernel.put("/a.md", "one");
    await workspace.refresh();
    kernel.before = () => Promise.reject(new Error("The disk is gone."));
    await workspace.refresh();
    expect(workspace).toMatchObject({ problem: "The disk is gone.", files: [{ path: "/a.md" }] });
  });

  it("undoes a deletion", async () => {
    kernel.put("/a.md", "one");
    const undo = await workspace.remove("/a.md");
    expect(workspace.files).toEqual([]);
    await undo();
    expect(kernel.text("/a.md")).toBe("one");
  });

  it("gives the first bytes of a file, and how large it is", async () => {
    kernel.put("/a.md", "one two");
    const { content: head, size } = await workspace.head("/a.md", 3);
    expect([await head.text(), size]).toEqual(["one", 7]);
  });
});
