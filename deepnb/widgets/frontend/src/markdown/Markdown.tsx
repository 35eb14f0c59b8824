/** A text that a model wrote, or writes. */

import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

import { useApp } from "../app";
import type { TextStep, ThoughtStep } from "../model";
import { memo } from "../parts/memo";
import { useDrawn } from "../parts/useDrawn";
import { Blocks, steady, type Split } from "./blocks";
import { masked, type MakeChip } from "./marks";
import { render } from "./render";

interface MarkdownProps {
  /** What is written; `pieces` as long as there is more to come. */
  step: Pick<TextStep | ThoughtStep, "type" | "seq" | "text" | "state" | "pieces">;
  /** Of a report: where its marks are, and what they become. */
  marks?: readonly number[] | undefined;
  makeChip?: MakeChip | undefined;
}

export function Markdown({ step, marks, makeChip }: MarkdownProps) {
  const { ui, store } = useApp();
  const [, again] = useReducer((count: number) => count + 1, 0);
  // Not by the message's id: a graph may give one that the reader has allowed something for.
  const place = `${step.type} ${step.seq} ${store.facts?.thread}`;
  const images = ui.imagesAllowed.has(place);
  const { pages, tail, links } = useSplit(step, marks);
  const load = (event: MouseEvent) => {
    if (!(event.target as Element).closest("[data-load]")) return;
    ui.imagesAllowed.add(place);
    again(undefined);
  };
  return (
    <div class="dn-prose" data-writing={step.state === "writing" || undefined} onClick={load}>
      {pages.map((pieces, index) => <Page key={index} {...{ pieces, links, images, makeChip }} />)}
      {tail && <Block key="tail" source={steady(tail) + links} images={images} whole={false} />}
    </div>
  );
}

interface PageProps {
  pieces: readonly string[];
  links: string;
  images: boolean;
  makeChip: MakeChip | undefined;
}

const Page = memo(function Page({ pieces, links, images, makeChip }: PageProps) {
  return (
    <div class="dn-page" data-far={useDrawn()}>
      {pieces.map((source, index) => <Block key={index} source={source + links} {...{ images, makeChip }} whole />)}
    </div>
  );
});

interface BlockProps {
  source: string;
  images: boolean;
  whole: boolean;
  makeChip?: MakeChip | undefined;
}

/** One block or a few that were finished together. */
const Block = memo(function Block({ source, images, whole, makeChip }: BlockProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    element.current!.replaceChildren(render(source, { images, whole, makeChip }));
  }, [source, images, whole, makeChip]);
  return <div ref={element} class="dn-block" />;
});

/** Milliseconds between two drawings: nobody reads faster. */
const PACE = 33;

/**
 * A text in blocks, at a pace at which they can be drawn.
 *
 * All of a block is drawn again when it grows. So that one which never ends costs no more per word
 * than others, it is drawn the more seldom the longer it is.
 */
function useSplit(step: MarkdownProps["step"], marks: MarkdownProps["marks"]): Split {
  const [blocks] = useState(() => new Blocks());
  const drawn = useRef<{ split: Split; step: object; at: number } | null>(null);
  const [, again] = useReducer((count: number) => count + 1, 0);
  const before = drawn.current;
  const pieces = step.state === "writing" ? (step.pieces ?? { all: [step.text], count: 1 }) : null;
  const pause = Math.max(PACE, (before?.split.tail.length ?? 0) / 100);
  const wait = before && pieces ? before.at + pause - performance.now() : 0;
  useLayoutEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => again(undefined), wait);
    return () => clearTimeout(timer);
  });
  if (before && (wait > 0 || before.step === step)) return before.split;
  const split = pieces ? blocks.grow(pieces) : blocks.whole(marks ? masked(step.text, marks) : step.text);
  drawn.current = { split, step, at: performance.now() };
  return split;
}
