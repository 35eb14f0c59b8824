/** Verdicts in words, glyphs and tones: no one of these is left to say it alone. */

import type { Citation, Verdict } from "../model";
import type { IconName } from "../parts/Icon";

interface Look {
  readonly icon: IconName;
  readonly tone: "ok" | "warn" | "bad" | "muted";
  readonly title: string;
  /** What it means. */
  readonly why: string;
  /** Behind a number: "3 quoted". */
  readonly counted: string;
}

/** The best first. */
export const VERDICTS: Record<Verdict, Look> = {
  quoted: { icon: "quote", tone: "ok", title: "Quoted", why: "word for word", counted: "quoted" },
  paraphrase: {
    icon: "tilde", tone: "warn", title: "Paraphrase", why: "source matched, support not verified",
    counted: "paraphrased, support not verified",
  },
  misattributed: { icon: "swap", tone: "bad", title: "Misattributed", why: "another source has it", counted: "misattributed" },
  missing: { icon: "x", tone: "bad", title: "Not found", why: "in this or any other source", counted: "not found" },
  uncited: { icon: "none", tone: "muted", title: "Uncited", why: "no source is named", counted: "uncited" },
};

export const ORDER = Object.keys(VERDICTS) as Verdict[];

/** What a chip is called. */
export function nameOf({ source, verdict, foundIn }: Citation, isSettled: boolean): string {
  const { title, why } = VERDICTS[verdict];
  const said = verdict === "misattributed" && foundIn ? `misattributed, found in source ${foundIn}` : `${title.toLowerCase()}, ${why}`;
  return `${source && `Source ${source}: `}${said}${isSettled ? "; checked by you" : ""}`;
}

/** How many there are of each verdict. */
export function tally(citations: readonly Citation[]): Record<Verdict, number> {
  const counts = { quoted: 0, paraphrase: 0, misattributed: 0, missing: 0, uncited: 0 };
  for (const { verdict } of citations) counts[verdict] += 1;
  return counts;
}
