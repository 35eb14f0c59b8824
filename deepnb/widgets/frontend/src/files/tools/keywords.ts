/** Which passages a question is about, by plain keyword ranking (BM25): the same as for the kernel, in keywords.py. */

import { casefold, lengthOf, ahead } from "./python";

// A word, with the joints that belong to it: 2.5, 1,200, well-known, don't, total_p.
const WORD = /[\p{L}\p{N}]+(?:[.'\u2019_\-\u2010\u2011][\p{L}\p{N}]+|(?<=\p{Nd}),\p{Nd}{3}(?!\p{Nd}))*/gu;
const JOINT = /['\u2019_\-\u2010\u2011]|\.(?!\p{Nd})|(?<!\p{Nd})\./u;
const POSSESSIVE = /['\u2019]s$/;
// Scripts that put no space between words: Thai to Burmese, Khmer, kana, Han.
const UNSPACED =
  /([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3134f}]+)/u;
const LONGEST_WORD = 64;
const REMEMBERED = 1 << 15;

const STOP_WORDS = new Set(
  `a about above after again all also am an and any are aren as at be because been before being
  below between both but by can cannot could couldn did didn do does doesn doing don down during
  each else ever every few for from further get gets give got had hadn has hasn have haven having
  he her here hers herself him himself his how i if in into is isn it its itself just let ll me
  more most much must my myself no nor not of off on once only or other our ours ourselves out
  over own per please re same shall she should shouldn so some such than that the their theirs
  them themselves then there these they this those through to too under until up upon us use used
  using ve very was wasn we were weren what when where whether which while who whom whose why
  will with within without won would wouldn yet you your yours yourself yourselves`.split(/\s+/),
);

// An ending goes only when what stays is at least this long.
const ENDINGS: readonly (readonly [string, number])[] = [
  ["ingly", 3],
  ["edly", 3],
  ["ment", 5],
  ["tion", 4],
  ["ing", 3],
  ["ed", 3],
  ["ly", 5],
];
const SHORT = 4;

const known = new Map<string, readonly string[]>(); // most words of a text have been seen before

/** The words of a text that carry meaning, stemmed, in order, repeats kept. */
export function terms(text: string): string[] {
  return words(text).flatMap(wordTerms);
}

function words(text: string): string[] {
  const isPlain = /^[\x00-\x7f]*$/.test(text);
  const normal = isPlain ? text.toLowerCase() : casefold(text.normalize("NFKC"));
  return (normal.match(WORD) ?? []).map((word) => (isUnspaced(word) ? word : shortened(word)));
}

function wordTerms(written: string): readonly string[] {
  let found = known.get(written);
  if (!found) {
    const word = written.replace(POSSESSIVE, "");
    const parts = word.split(JOINT).filter(meansSomething);
    // "what's" and "don't" are made of nothing that means something, and so mean nothing.
    const all = parts.length > 0 && (parts.length > 1 || parts[0] !== word) ? [word, ...parts] : parts;
    found = all.flatMap(pairs).map(stem);
    if (known.size >= REMEMBERED) known.clear();
    known.set(written, found);
  }
  return found;
}

function meansSomething(word: string): boolean {
  return word !== "" && !STOP_WORDS.has(word) && !/^[A-Za-z]$/.test(word);
}

/** The word, or, for characters that stand without spaces, each two of them. */
function pairs(word: string): string[] {
  if (!isUnspaced(word)) return [word];
  return word.split(UNSPACED).filter(Boolean).flatMap((run) => {
    const signs = [...run];
    if (signs.length === 1 || !isUnspaced(run)) return [shortened(run)];
    return signs.slice(1).map((sign, at) => signs[at]! + sign);
  });
}

function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

function shortened(word: string): string {
  return lengthOf(word) <= LONGEST_WORD ? word : word.slice(0, ahead(word, 0, LONGEST_WORD));
}

/** A conservative stem of an English word; stems compare, they are not meant to be read. */
function stem(word: string): string {
  if (word.length < SHORT || !/^[A-Za-z]+$/.test(word)) return word;
  const base = withoutEnding(singular(word));
  if (base.length > SHORT && /[^aeiou]y$/.test(base)) return `${base.slice(0, -1)}i`;
  if (base.length >= SHORT && base.endsWith("e")) return base.slice(0, -1);
  return base.length >= SHORT && /([bdfglmnprst])\1$/.test(base) ? base.slice(0, -1) : base;
}

function withoutEnding(word: string): string {
  if (word.endsWith("eed")) return word; // speed, exceed: there the ending is part of the word
  for (const [ending, least] of ENDINGS) {
    const base = word.slice(0, -ending.length);
    if (word.endsWith(ending) && base.length >= least && /[aeiouy]/.test(base)) return ending === "tion" ? `${base}t` : base;
  }
  return word;
}

function singular(word: string): string {
  if (word.length > SHORT && /(ies|ied)$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(sses|shes|ches|xes|zes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

/** The documents that share a term with the query, best first. */
export function bm25(query: readonly string[], documents: readonly (readonly string[])[]): { index: number; score: number }[] {
  const [k1, b] = [1.2, 0.75];
  const wanted = new Set(query);
  const spread = new Map<string, number>();
  let length = 0;
  for (const document of documents) {
    length += document.length;
    for (const term of new Set(document)) if (wanted.has(term)) spread.set(term, (spread.get(term) ?? 0) + 1);
  }
  const average = length / documents.length;
  const weight = (term: string) => {
    const count = spread.get(term)!;
    return Math.log(1 + (documents.length - count + 0.5) / (count + 0.5));
  };
  const scores: { index: number; score: number }[] = [];
  documents.forEach((document, index) => {
    const counts = new Map<string, number>();
    for (const term of document) if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    if (counts.size === 0) return;
    const norm = k1 * (1 - b + (b * document.length) / average);
    let score = 0;
    for (const [term, count] of counts) score += (weight(term) * count * (k1 + 1)) / (count + norm);
    scores.push({ index, score });
  });
  return scores.sort((one, other) => other.score - one.score || one.index - other.index);
}
