/** What a write of the agent's would change in the reader's files, worked out where they are. */

import { createTwoFilesPatch } from "diff";

import { legible } from "../parts/legible";
import type { JsonValue } from "../protocol";
import { below } from "./places";
import { sha256Of } from "./shelf/hash";
import { bytesOf } from "./tools/page";
import { cleanPath } from "./tools/paths";
import { decodeExactly, substitute } from "./tools/text";
import { FileError, type Shelf } from "./types";

/** Bytes of a file that is compared as a whole. */
const MOST = 262_144;

type Args = Readonly<Record<string, JsonValue>>;

/** A write, whichever tool does it, in the words of the question or of the call that follows. */
interface Write {
  readonly path: string;
  /** Null if all is replaced. */
  readonly search: string | null;
  readonly text: string;
  readonly every: boolean;
}

export class Previews {
  constructor(private readonly shelf: Shelf) {}

  /** A description as the kernel's, with the true diff; null for what is no write to the reader's files. */
  async describe(tool: string, args: Args): Promise<string | null> {
    const write = writeOf(tool, args);
    if (!write) return null;
    const hash = await this.hash(write.path);
    const before = hash ? await this.text(write.path) : "";
    await this.shelf.shown.set(await keyOf(write), hash);
    const verb = write.search !== null ? "Edit" : hash ? "Replace" : "Create";
    const title = `${verb} /files${write.path}`;
    if (before === null) return `${title}\n\nWhat is there now is too large, or no text, and cannot be shown.`;
    return `${title}\n\n${fenced(before, after(before, write))}`;
  }

  /** What has to be there for a call to be carried out: what the reader has seen when they approved it, if they have. */
  async expected(tool: string, args: Args): Promise<string | undefined> {
    const write = writeOf(tool, args);
    return write ? this.shelf.shown.get(await keyOf(write)) : undefined;
  }

  /** Lets go of a write that was carried out: the next one of its kind may be approved without being shown. */
  async forget(tool: string, args: Args): Promise<void> {
    const write = writeOf(tool, args);
    if (write) await this.shelf.shown.set(await keyOf(write));
  }

  private async hash(path: string): Promise<string> {
    try {
      return await this.shelf.hash(path);
    } catch (error) {
      if (error instanceof FileError && error.kind === "missing") return "";
      throw error;
    }
  }

  private async text(path: string): Promise<string | null> {
    const content = await this.shelf.read(path);
    if (content.size > MOST) return null;
    try {
      return decodeExactly(await bytesOf(content));
    } catch {
      return null;
    }
  }
}

/** Reads a question's action, whose path is the agent's, or a call to the client, whose path is the shelf's. */
function writeOf(tool: string, args: Args): Write | null {
  const given = (name: string) => (typeof args[name] === "string" ? args[name] : null);
  const path = pathOf(given("file_path") ?? given("file_id"), given("path"));
  if (!path) return null;
  const search = given("search") ?? given("old_string");
  const text = given("content") ?? given("replace") ?? given("new_string");
  if (text === null || (search === null) !== (tool === "write_file")) return null;
  return { path, search, text, every: args.replace_all === true };
}

/** A path of the shelf in its one spelling, given as an agent writes it or as a call does. */
function pathOf(agents: string | null, calls: string | null): string | null {
  try {
    if (agents === null) return calls && cleanPath(calls);
    const path = below("/files", cleanPath(agents));
    return path && `/${path}`;
  } catch {
    return null; // the tool will say what is wrong with it
  }
}

/** Short, however long the text is. */
function keyOf({ path, search, text, every }: Write): Promise<string> {
  return sha256Of(new TextEncoder().encode(JSON.stringify([path, search, text, every])));
}

function after(before: string, { search, text, every }: Write): string {
  if (search === null) return text;
  try {
    return substitute(before, search, text, every)[0];
  } catch {
    return before; // the tool will say why
  }
}

function fenced(before: string, after: string): string {
  if (before === after) return "This changes nothing.";
  const patch = createTwoFilesPatch("a", "b", before, after, "", "", { context: 3, timeout: 500 });
  if (patch === undefined) return "The change is too large to be shown.";
  const text = legible(patch.slice(patch.indexOf("@@")).trimEnd());
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return `${fence}diff\n${text}\n${fence}`;
}
