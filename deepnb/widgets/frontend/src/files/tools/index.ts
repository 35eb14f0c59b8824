/**
 * The agent's seven tools, on the reader's files.
 *
 * They answer as a folder of the kernel would, to the letter (files/wire.py, files/folder.py): an agent shall not
 * have to know where files are. What does not work is an answer, too, that says what is wrong and what to do.
 */

import { FileError, type Answer, type Entry, type Shelf } from "../types";
import { compileGlob } from "./glob";
import { grep } from "./grep";
import { sha256Of } from "../shelf/hash";
import { bytesOf, readPage } from "./page";
import { isShownBroken, nameOf, parentOf } from "./paths";
import { compare, repr } from "./python";
import { argumentsOf, toolName, type Arguments, type ToolName } from "./requests";
import { search } from "./search";
import { decodeExactly, refuseBinary, refuseDamage, refuseHalves, substitute } from "./text";
import { Deadline, LARGEST, missing, MOST_FOUND, walk } from "./walk";

type Result = Record<string, unknown>;
type Tool<T extends ToolName> = (shelf: Shelf, args: Arguments[T], question?: string, expects?: string) => Promise<Result>;

const START = 8192; // bytes that tell what kind of file it is
const ATTEMPTS = 3; // at a patch of a file that another tab changes meanwhile

const OUTDATED = "The file has changed since the person was asked, so nothing was written. Read it again, and ask again.";

const REASONS: Partial<Record<FileError["kind"], string>> = {
  missing: "does not exist. Use ls or glob to see what is there.",
  folder: "is a folder, not a file. Use ls to see what is in it.",
  "no folder": "is not a folder, or goes through a file as if that were a folder. Use ls.",
  exists: "would need a folder where there is a file. Choose another path.",
  denied: "may not be used: no permission. Choose another file, or tell the person.",
  full: "could not be written: the disk is full. Nothing was changed; tell the person.",
};

const TOOLS: { readonly [T in ToolName]: Tool<T> } = {
  list_files: listFiles,
  read_file: readFile,
  write_file: writeFile,
  patch_file: patchFile,
  glob_files: globFiles,
  grep_files: grep as Tool<"grep_files">,
  search_files: search as Tool<"search_files">,
};

/**
 * Runs a tool. A question that this store has answered before gets the same answer, and changes nothing.
 *
 * A write that a person has approved expects what they have seen (a hash, or "" for nothing), and changes nothing else.
 */
export async function runTool(shelf: Shelf, tool: string, args: unknown, question?: string, expects?: string): Promise<Answer> {
  const before = question === undefined ? undefined : await shelf.answered(question);
  if (before) return before;
  try {
    return { result: await run(shelf, toolName(tool), args, question, expects) };
  } catch (error) {
    const isOutdated = expects !== undefined && error instanceof FileError && error.kind === "changed";
    return { error: isOutdated ? OUTDATED : explain(error, args) };
  }
}

function run<T extends ToolName>(shelf: Shelf, tool: T, args: unknown, question?: string, expects?: string): Promise<Result> {
  return TOOLS[tool](shelf, argumentsOf(tool, args), question, expects);
}

function explain(error: unknown, args: unknown): string {
  const path = (args as { path?: unknown } | null)?.path;
  const name = (typeof path === "string" && nameOf(path)) || "/";
  if (!(error instanceof FileError)) {
    return `${repr(name)} could not be used: ${error instanceof Error ? error.message : String(error)}. Try another file.`;
  }
  if (error.kind === "missing" && isShownBroken(name)) {
    return `${repr(name)} has a name that cannot be used here. Ask the person to rename the file.`;
  }
  const reason = REASONS[error.kind];
  return reason ? `${repr(name)} ${reason}` : error.message;
}

async function listFiles(shelf: Shelf, { path }: Arguments["list_files"]): Promise<Result> {
  const entries = await shelf.entries();
  const self = entries.find((entry) => entry.path === path);
  if (self && !self.isDir) throw new FileError("", "no folder");
  if (!self && path !== "/") throw missing(entries, path);
  return { entries: entries.filter((entry) => parentOf(entry.path) === path).map(listing).sort(byPath) };
}

async function readFile(shelf: Shelf, { path, offset, limit }: Arguments["read_file"]): Promise<Result> {
  if (limit === 0) return { content: "", no_lines_requested: true };
  const file = await shelf.read(path);
  refuseBinary(path, await bytesOf(file.slice(0, START)), file.size);
  const page = await readPage(file, offset, limit);
  if (page === 0) return { content: "", no_lines_requested: false };
  if (typeof page === "number") {
    throw new FileError(`Line offset ${offset} is past the end: it has ${page} lines.`);
  }
  refuseBinary(path, new TextEncoder().encode(page.text), file.size);
  return {
    content: page.text,
    ...(page.total === undefined ? {} : { total_lines: page.total }),
    start_line: page.first,
    end_line: page.last,
    ...(page.more ? { next_offset: page.last } : {}),
    no_lines_requested: false,
  };
}

async function writeFile(shelf: Shelf, { path, content }: Arguments["write_file"], question?: string, expects?: string): Promise<Result> {
  refuseDamage(path, content);
  refuseHalves(content);
  const result = { path };
  await shelf.write(path, new Blob([content]), { ...ledger(question, result), ...(expects === undefined ? {} : { expects }) });
  return result;
}

async function patchFile(shelf: Shelf, args: Arguments["patch_file"], question?: string, expects?: string): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await patchOnce(shelf, args, question, expects);
    } catch (error) {
      const isChanged = error instanceof FileError && error.kind === "changed";
      if (!isChanged || expects !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

async function patchOnce(shelf: Shelf, args: Arguments["patch_file"], question?: string, expects?: string): Promise<Result> {
  const { path, search: old, replace, replace_all: every } = args;
  const file = await shelf.read(path);
  if (file.size > LARGEST) {
    throw new FileError(`${repr(nameOf(path))} is too large for this. Nothing was changed; use a smaller file.`);
  }
  const bytes = await bytesOf(file);
  const found = await sha256Of(bytes);
  if (expects !== undefined && expects !== found) throw new FileError("", "changed");
  refuseBinary(path, bytes, bytes.length);
  const [content, occurrences] = substitute(decodeExactly(bytes), old, replace, every);
  refuseDamage(path, content);
  refuseHalves(content);
  const result = { path, occurrences };
  await shelf.write(path, new Blob([content]), { ...ledger(question, result), expects: found });
  return result;
}

async function globFiles(shelf: Shelf, { pattern, path }: Arguments["glob_files"]): Promise<Result> {
  const wanted = compileGlob(pattern);
  const deadline = new Deadline();
  const found: Entry[] = [];
  let isOver = false;
  for (const { entry, below } of await walk(shelf, path, true)) {
    isOver = found.length > MOST_FOUND || deadline.isOver;
    if (isOver) break;
    if (wanted(below)) found.push(entry);
  }
  isOver ||= found.length > MOST_FOUND;
  const matches = found.slice(0, MOST_FOUND).map(listing).sort(byPath);
  return { matches, truncated: isOver, ...(isOver ? { truncation_reason: "budget" } : {}) };
}

function ledger(question: string | undefined, result: Result): { answers?: { question: string; answer: Answer } } {
  return question === undefined ? {} : { answers: { question, answer: { result } } };
}

interface Listed {
  readonly path: string;
  readonly is_dir: boolean;
  readonly size: number;
  readonly modified_at: string;
}

function listing({ path, isDir, size, modified }: Entry): Listed {
  const at = modified ? `${new Date(modified).toISOString().slice(0, 19)}Z` : ""; // of a real folder it is not known
  return { path: isDir ? `${path}/` : path, is_dir: isDir, size: isDir ? 0 : size, modified_at: at };
}

function byPath(a: Listed, b: Listed): number {
  return compare(a.path, b.path);
}
