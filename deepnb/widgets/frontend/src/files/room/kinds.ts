/** What kind of file something is, as far as its name tells, and how amounts of it are written. */

import { tokens } from "../../parts/format";
import type { IconName } from "../../parts/Icon";
import { nameOf } from "../tools/paths";

export type Kind = "text" | "table" | "image" | "pdf" | "notebook" | "other";

export const KINDS: readonly (readonly [Kind, string])[] = [
  ["text", "Text"],
  ["table", "Tables"],
  ["image", "Images"],
  ["pdf", "PDF"],
  ["notebook", "Notebooks"],
  ["other", "Other"],
];

export const ICONS: Readonly<Record<Kind, IconName>> = {
  text: "text",
  table: "table",
  image: "image",
  pdf: "book",
  notebook: "list",
  other: "file",
};

/** What a browser shows as a picture. A file's own word for its type is never taken: it could be a page. */
export const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  svg: "image/svg+xml",
  ico: "image/x-icon",
};

const ENDINGS: Readonly<Record<Exclude<Kind, "other">, string>> = {
  text: "md markdown txt rst tex bib log json jsonl yaml yml toml xml html htm css js ts tsx py r jl sql sh c h cpp java go rs ini cfg srt vtt org adoc",
  table: "csv tsv tab xlsx xls ods parquet feather",
  image: `${Object.keys(IMAGES).join(" ")} tif tiff heic`,
  pdf: "pdf",
  notebook: "ipynb",
};

const BY_ENDING = new Map<string, Kind>(
  Object.entries(ENDINGS).flatMap(([kind, endings]) => endings.split(" ").map((ending) => [ending, kind as Kind])),
);

/** "md" of "/notes/A.MD"; empty if there is none. */
export function endingOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

export function kindOf(path: string): Kind {
  return BY_ENDING.get(endingOf(path)) ?? "other";
}

const UNITS = ["KB", "MB", "GB", "TB"];

/** 512 bytes, 38 KB, 1.4 MB, 200 MB. */
export function bytes(count: number): string {
  if (count < 1000) return `${tokens(count)} ${count === 1 ? "byte" : "bytes"}`;
  let [amount, unit] = [count / 1000, 0];
  while (amount >= 999.5 && unit < UNITS.length - 1) (amount /= 1000), unit++;
  const digits = amount < 9.95 && unit > 0 ? 1 : 0;
  return `${amount.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit]}`;
}
