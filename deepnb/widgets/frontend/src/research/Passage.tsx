/** What a source says, with its quotes marked. The one place of serif type. */

import type { Place, Source } from "../model";
import { legible } from "../parts/legible";

/** A passage in pieces: those that somebody has quoted have a span. Offsets count characters, as Python does. */
export function pieces(text: string, spans: readonly (readonly [number, number])[]): { text: string; start: number | null }[] {
  if (!spans.length) return [{ text: legible(text), start: null }];
  const characters = Array.from(text);
  const made: { text: string; start: number | null }[] = [];
  let end = 0;
  const push = (from: number, to: number, start: number | null) => {
    if (from < to) made.push({ text: legible(characters.slice(from, to).join("")), start });
  };
  for (const [start, stop] of spans) {
    push(end, start, null);
    push(Math.max(start, end), stop, start);
    end = Math.max(end, stop);
  }
  push(end, characters.length, null);
  return made;
}

const AROUND = 260; // characters on each side of a quote
const NEAREST = 700;

/** Some of a passage: the quote with what stands around it. */
export function Excerpt({ source, at }: { source: Source; at: Place }) {
  const text = source.passages[at.passage]?.text;
  if (text === undefined) return null;
  const parts = pieces(text, at.span ? [at.span] : []);
  const quoted = parts.findIndex((part) => part.start !== null);
  if (quoted < 0) return <div class="dn-quote">{beginning(parts[0]!.text, NEAREST)}</div>;
  return (
    <div class="dn-quote">
      <span class="dn-context">{ending(parts[quoted - 1]?.text ?? "", AROUND)}</span>
      <mark>{parts[quoted]!.text}</mark>
      <span class="dn-context">{beginning(parts[quoted + 1]?.text ?? "", AROUND)}</span>
    </div>
  );
}

function beginning(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/\S*$/, "")}…`;
}

function ending(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(-most).replace(/^\S*/, "")}`;
}
