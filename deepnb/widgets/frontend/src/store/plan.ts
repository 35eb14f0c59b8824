/** The todo list after its last change, and when each todo was begun and done. */

import type { Plan, Todo } from "../model";
import { legible } from "../parts/legible";
import type { WireEvent } from "../protocol";
import { object, text } from "./fields";

export function nextPlan(before: Plan | null, event: WireEvent): Plan {
  const known = new Map(before?.todos.map((todo) => [todo.content, todo]));
  const found = Array.isArray(event.data.todos) ? event.data.todos : [];
  const todos = found.map((item) => {
    const content = object(item)?.content;
    const status = object(item)?.status;
    return next(typeof content === "string" ? legible(content) : "", status, event.time, known);
  });
  return { seq: event.seq, by: text(event, "by"), todos };
}

function next(content: string, status: unknown, now: number, known: Map<string, Todo>): Todo {
  const before = known.get(content);
  if (status === "completed") {
    const began = before?.began ?? null;
    return { content, status, began, ended: before?.ended ?? now };
  }
  if (status === "in_progress") return { content, status, began: before?.began ?? now, ended: null };
  return { content, status: "pending", began: null, ended: null };
}
