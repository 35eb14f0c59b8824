/** What a file looks like from its first bytes. Whatever it calls itself, nothing in it is run. */

import type { Files } from "../types";
import { endingOf, IMAGES, kindOf } from "./kinds";
import type { Side } from "./links";

/** Bytes of a text that are looked at. */
export const MOST = 256 * 1024;
/** Of what can only be shown as a whole, and comes from the kernel. */
const MOST_WHOLE = 32 * 1024 * 1024;
const MOST_NOTEBOOK = 8 * 1024 * 1024;
const ROWS = 200;
const COLUMNS = 60;

export interface Cell {
  readonly type: "markdown" | "code" | "raw";
  readonly source: string;
  readonly outputs: string;
}

export type Look =
  | { readonly kind: "text" | "markdown"; readonly text: string; readonly cut: boolean }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[]; readonly cut: boolean }
  | { readonly kind: "notebook"; readonly cells: readonly Cell[]; readonly cut: boolean }
  | { readonly kind: "image" | "pdf"; readonly content: Blob }
  | { readonly kind: "bytes"; readonly hex: string; readonly why: string };

export interface Seen {
  readonly size: number;
  readonly look: Look;
}

export async function lookAt(files: Files, side: Side, path: string): Promise<Seen> {
  const { content, size, whole } = await openHead(files, side, path);
  const first = new Uint8Array(await content.slice(0, MOST).arrayBuffer());
  const kind = kindOf(path);
  const image = IMAGES[endingOf(path)];
  if (size && (image || isPdf(path, first))) {
    const all = await whole(MOST_WHOLE);
    if (!all) return { size, look: { kind: "bytes", hex: hexOf(first), why: "It is too large to be shown from the workspace. Copy it to My computer and open it there." } };
    return { size, look: { kind: image ? "image" : "pdf", content: all.slice(0, all.size, image ?? "application/pdf") } };
  }
  if (kind === "notebook" && size <= MOST_NOTEBOOK) {
    const cells = notebookOf(textOf(new Uint8Array((await (await whole(MOST_NOTEBOOK))?.arrayBuffer()) ?? [])));
    if (cells) return { size, look: { kind: "notebook", cells: cells.slice(0, ROWS), cut: cells.length > ROWS } };
  }
  const cut = size > first.length;
  const text = textOf(first, cut);
  if (text === null) return { size, look: { kind: "bytes", hex: hexOf(first), why: "" } };
  if (/^(csv|tsv|tab)$/.test(endingOf(path))) return { size, look: tableOf(text, endingOf(path) !== "csv", cut) };
  return { size, look: { kind: /^(md|markdown)$/.test(endingOf(path)) ? "markdown" : "text", text, cut } };
}

interface Head {
  readonly content: Blob;
  readonly size: number;
  /** All of it; null if it is longer than that. */
  whole(most: number): Promise<Blob | null>;
}

async function openHead(files: Files, side: Side, path: string): Promise<Head> {
  if (side === "mine") {
    const content = await files.shelf.read(path); // no byte of it is read before it is needed
    return { content, size: content.size, whole: async () => content };
  }
  const { content, size } = await files.workspace.head(path, MOST);
  const whole = async (most: number) => (size <= content.size ? content : size <= most ? await fetchAll(files, path) : null);
  return { content, size, whole };
}

async function fetchAll({ workspace }: Files, path: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [offset, version] = [0, ""];
  for (;;) {
    const { about, bytes } = await workspace.chunk(path, offset, version);
    parts.push(bytes as Uint8Array<ArrayBuffer>);
    offset += bytes.length;
    version = about.version;
    if (offset >= about.size || !bytes.length) return new Blob(parts);
  }
}

function isPdf(path: string, first: Uint8Array): boolean {
  return endingOf(path) === "pdf" && String.fromCharCode(...first.slice(0, 1024)).includes("%PDF-");
}

/** The text that bytes are; null if they are none. If they are `cut` off, the last letter may be half. */
export function textOf(bytes: Uint8Array, cut = false): string | null {
  const [one, two] = bytes;
  const marked = one === 0xff && two === 0xfe ? "utf-16le" : one === 0xfe && two === 0xff ? "utf-16be" : "";
  if (marked) return new TextDecoder(marked).decode(bytes);
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    const text = new TextDecoder("windows-1252").decode(bytes);
    // Old texts have letters from above 127; what has signs from below 32 is none.
    return /[\x01-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  }
}

function tableOf(text: string, tabs: boolean, cut: boolean): Look {
  const rows = separated(text, tabs ? "\t" : separatorOf(text), ROWS + 2);
  const more = rows.length > ROWS + 1;
  // The last row may have been cut with the text.
  const whole = more ? rows.slice(0, ROWS + 1) : cut ? rows.slice(0, -1) : rows;
  return { kind: "table", rows: whole.map((row) => row.slice(0, COLUMNS)), cut: more || cut };
}

function separatorOf(text: string): string {
  const line = text.slice(0, text.search(/[\r\n]|$/));
  const count = (sign: string) => line.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

/** Rows of fields, which may be quoted and then hold anything. */
export function separated(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [[]];
  let [field, quoted] = ["", false];
  const endField = () => (rows.at(-1)!.push(field), (field = ""));
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length; at++) {
    const sign = text[at]!;
    if (quoted && sign === '"' && text[at + 1] === '"') (field += '"'), at++;
    else if (sign === '"' && (quoted || field === "")) quoted = !quoted;
    else if (quoted) field += sign;
    else if (sign === separator) endField();
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[at + 1] === "\n") at++;
      endField();
      if (rows.length === most) return rows;
      rows.push([]);
    } else field += sign;
  }
  if (field || rows.at(-1)!.length) endField();
  else rows.pop();
  return rows;
}

/** The cells of a notebook, with what they have put out as text; null if it is none. */
export function notebookOf(text: string | null): Cell[] | null {
  try {
    const { cells } = JSON.parse(text ?? "") as { cells: { cell_type?: unknown; source?: unknown; outputs?: unknown }[] };
    return cells.map(({ cell_type, source, outputs }) => ({
      type: cell_type === "markdown" || cell_type === "code" ? cell_type : "raw",
      source: linesOf(source),
      outputs: Array.isArray(outputs) ? outputs.map(outputOf).filter(Boolean).join("\n").slice(0, 20_000) : "",
    }));
  } catch {
    return null;
  }
}

/** Only its text: what else an output holds could be a page or a script. */
function outputOf(output: { text?: unknown; data?: Record<string, unknown>; ename?: unknown; evalue?: unknown } | null): string {
  if (!output) return "";
  const text = output.ename ? `${output.ename}: ${output.evalue}` : linesOf(output.text ?? output.data?.["text/plain"]);
  return text.replace(/\x1b\[[\d;]*[A-Za-z]/g, "").trimEnd();
}

function linesOf(text: unknown): string {
  return Array.isArray(text) ? text.join("") : typeof text === "string" ? text : "";
}

function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, 256); at += 16) {
    const row = [...bytes.slice(at, Math.min(at + 16, 256))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const signs = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${hex.padEnd(47)}  ${signs}`);
  }
  return lines.join("\n");
}
