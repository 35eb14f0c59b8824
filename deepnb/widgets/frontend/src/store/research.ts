/** What was read, and what came of checking a report against it, as events tell it. */

import type { Citation, Conflict, Passage, Place, Report, Side, Source, Step, Turn, Verdict } from "../model";
import { legible } from "../parts/legible";
import type { WireEvent } from "../protocol";
import { number, object, raw, text } from "./fields";

type Fields = Record<string, unknown>;

const VERDICTS: Record<string, Verdict> = {
  quoted: "quoted",
  "source matched, support not verified": "paraphrase",
  misattributed: "misattributed",
  uncited: "uncited",
};

export function readSource(event: WireEvent): Source {
  const id = raw(event, "id");
  return {
    id,
    kind: raw(event, "kind"),
    title: text(event, "title") || text(event, "location") || id,
    location: text(event, "location"),
    read: number(event, "read"),
    passages: objects(event.data.passages).map(passage),
  };
}

export function readReport(event: WireEvent): Report {
  return {
    marks: (Array.isArray(event.data.marks) ? event.data.marks : []).map(whole).filter((at) => at !== null),
    citations: objects(event.data.citations).map((each) => citation(each, event.run ?? "")),
    conflicts: objects(event.data.conflicts).map(conflict).filter(({ sides }) => sides.length === 2),
    removed: number(event, "removed") ?? 0,
    settled: new Map(),
    notes: new Map(),
  };
}

/** All reports of a conversation. */
export function reportsIn(turns: readonly Turn[]): Report[] {
  const inSteps = (steps: readonly Step[]): Report[] =>
    steps.flatMap((step) => {
      if (step.type === "subagent") return inSteps(step.steps);
      return step.type === "text" && step.report ? [step.report] : [];
    });
  return turns.flatMap((turn) => inSteps(turn.steps));
}

function citation(fields: Fields, run: string): Citation {
  const [source, foundIn] = [string(fields.source), string(fields.found_in)];
  return {
    id: string(fields.id),
    run,
    claim: shown(fields.claim),
    quote: shown(fields.quote),
    source,
    place: shown(fields.place),
    verdict: VERDICTS[string(fields.verdict)] ?? "missing", // what cannot be read is no support
    foundIn,
    at: place(foundIn || source, fields),
    mark: whole(fields.mark),
  };
}

function conflict(fields: Fields): Conflict {
  return {
    about: (Array.isArray(fields.about) ? fields.about : []).map(shown),
    why: shown(fields.why),
    sides: objects(fields.sides).flatMap((each): Side[] => {
      const at = place(string(each.source), each);
      return at ? [{ at, place: shown(each.place), text: shown(each.text) }] : [];
    }),
  };
}

function place(source: string, fields: Fields): Place | null {
  const passage = whole(fields.passage);
  const [start, end] = [whole(fields.start), whole(fields.end)];
  if (passage === null) return null;
  return { source, passage, span: start !== null && end !== null && start < end ? [start, end] : null };
}

function passage(fields: Fields): Passage {
  return { text: string(fields.text), place: shown(fields.place) };
}

function objects(value: unknown): Fields[] {
  const all: unknown[] = Array.isArray(value) ? value : [];
  return all.map(object).filter((each) => each !== null);
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function shown(value: unknown): string {
  return legible(string(value));
}

function whole(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
