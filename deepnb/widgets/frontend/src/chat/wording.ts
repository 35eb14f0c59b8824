/** How a tool call reads in one line: a verb, and what it was done to. */

import type { ToolStep } from "../model";
import type { IconName } from "../parts/Icon";
import { asText, oneLine } from "../parts/legible";

interface Words {
  readonly icon: IconName;
  readonly now: string;
  readonly done: string;
}

const TOOLS: Record<string, Words> = {
  ls: { icon: "folder", now: "Listing", done: "Listed" },
  glob: { icon: "search", now: "Looking for", done: "Looked for" },
  grep: { icon: "search", now: "Searching for", done: "Searched for" },
  read_file: { icon: "text", now: "Reading", done: "Read" },
  write_file: { icon: "pencil", now: "Writing", done: "Wrote" },
  edit_file: { icon: "pencil", now: "Editing", done: "Edited" },
  delete_file: { icon: "trash", now: "Deleting", done: "Deleted" },
  write_todos: { icon: "list", now: "Planning", done: "Planned" },
  search_knowledge: { icon: "search", now: "Searching", done: "Searched" },
  fetch_page: { icon: "globe", now: "Fetching", done: "Fetched" },
  ask_user: { icon: "ask", now: "Asking", done: "Asked" },
  ask_choices: { icon: "ask", now: "Asking", done: "Asked" },
};

/** Arguments that say what a call is about, the most telling first. */
const TELLING = ["pattern", "query", "question", "file_path", "path", "url", "command", "description", "name"];
const MACHINE_NAMES = new Set(["pattern", "file_path", "path", "url", "command"]);

export interface ToolLine {
  readonly icon: IconName;
  readonly verb: string;
  readonly object: string;
  /** Whether the object is a name for machines. */
  readonly mono: boolean;
}

export function toolLine({ name, args, state }: ToolStep): ToolLine {
  const words = Object.hasOwn(TOOLS, name) ? TOOLS[name]! : null;
  const verb = words ? (state === "ok" ? words.done : words.now) : oneLine(name, 60) || "Tool";
  const key = TELLING.find((key) => typeof args[key] === "string" && args[key] !== "");
  const todos = args.todos;
  if (name === "write_todos" && Array.isArray(todos)) {
    return { icon: "list", verb, object: `${todos.length} ${todos.length === 1 ? "step" : "steps"}`, mono: false };
  }
  const object = key ? oneLine(asText(args[key])) : "";
  return { icon: words?.icon ?? "right", verb, object, mono: key !== undefined && MACHINE_NAMES.has(key) };
}

/** The first sentence of what was thought. */
export function firstSentence(text: string): string {
  const line = oneLine(text.replace(/[*_`#]+/g, ""), 300);
  return /^.*?(?=[.!?](?:\s|$))/.exec(line)?.[0] || line;
}
