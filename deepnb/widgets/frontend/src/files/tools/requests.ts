/** What a tool may be asked: the same arguments, bounds and complaints as the kernel's own folders, in files/wire.py. */

import { FileError } from "../types";
import { cleanPath } from "./paths";
import { shownValue } from "./python";

type Check = (value: unknown) => string;
interface Field {
  readonly check: Check;
  /** Left out, the argument has to be given. */
  readonly otherwise?: unknown;
}

const LARGEST = 2 ** 53; // what JavaScript can count to
const text: Check = (value) => (typeof value === "string" ? "" : "Input should be a valid string");
const flag: Check = (value) => (typeof value === "boolean" ? "" : "Input should be a valid boolean");
const path: Check = (value) => {
  if (typeof value !== "string") return text(value);
  try {
    cleanPath(value);
    return "";
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return `Value error, ${error.message}`;
  }
};

function count(most = LARGEST): Check {
  return (value) => {
    if (typeof value !== "number" || !Number.isInteger(value)) return "Input should be a valid integer";
    if (value < 0) return "Input should be greater than or equal to 0";
    return value > most ? `Input should be less than or equal to ${most}` : "";
  };
}

function orNone(check: Check): Check {
  return (value) => (value === null ? "" : check(value));
}

const FOLDER: Field = { check: path, otherwise: "/" };
const FIELDS = {
  list_files: { path: FOLDER },
  read_file: { path: { check: path }, offset: { check: count(), otherwise: 0 }, limit: { check: count(), otherwise: 2000 } },
  write_file: { path: { check: path }, content: { check: text } },
  patch_file: { path: { check: path }, search: { check: text }, replace: { check: text }, replace_all: { check: flag, otherwise: false } },
  glob_files: { pattern: { check: text }, path: FOLDER },
  grep_files: {
    pattern: { check: text },
    path: FOLDER,
    glob: { check: orNone(text), otherwise: null },
    case_sensitive: { check: flag, otherwise: true },
    max_count: { check: orNone(count()), otherwise: null },
  },
  search_files: { query: { check: text }, path: FOLDER, top_k: { check: count(100), otherwise: 5 } },
} satisfies Record<string, Record<string, Field>>;

const MODELS: Record<ToolName, string> = {
  list_files: "ListFiles",
  read_file: "ReadFile",
  write_file: "WriteFile",
  patch_file: "PatchFile",
  glob_files: "GlobFiles",
  grep_files: "GrepFiles",
  search_files: "SearchFiles",
};

export type ToolName = keyof typeof FIELDS;

export interface Arguments {
  list_files: { path: string };
  read_file: { path: string; offset: number; limit: number };
  write_file: { path: string; content: string };
  patch_file: { path: string; search: string; replace: string; replace_all: boolean };
  glob_files: { pattern: string; path: string };
  grep_files: { pattern: string; path: string; glob: string | null; case_sensitive: boolean; max_count: number | null };
  search_files: { query: string; path: string; top_k: number };
}

export function toolName(tool: unknown): ToolName {
  if (typeof tool === "string" && Object.hasOwn(FIELDS, tool)) return tool as ToolName;
  throw new FileError(`There is no tool ${shownValue(tool)}. Use one of: ${Object.keys(FIELDS).join(", ")}.`);
}

/** The arguments of a tool, complete and with its path in one spelling; throws what is wrong with them. */
export function argumentsOf<T extends ToolName>(tool: T, given: unknown): Arguments[T] {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw malformed("", `Input should be a valid dictionary or instance of ${MODELS[tool]}`);
  }
  const fields: Record<string, Field> = FIELDS[tool];
  const found: Record<string, unknown> = {};
  for (const [name, { check, otherwise }] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : otherwise;
    const problem = value === undefined ? "Field required" : check(value);
    if (problem) throw malformed(name, problem);
    found[name] = check === path ? cleanPath(value as string) : value;
  }
  const extra = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (extra !== undefined) throw malformed(extra, "Extra inputs are not permitted");
  return found as Arguments[T];
}

function malformed(where: string, problem: string): FileError {
  return new FileError(`The request is malformed: ${where} ${problem}.`.replaceAll("  ", " "));
}
