/** Which bytes are text, and what an edit makes of it: the same as for the kernel, in files/text.py. */

import { FileError } from "../types";
import { nameOf } from "./paths";
import { repr } from "./python";

// None of these may pass as text, whatever is in them: a model would be given them as media.
const BINARY: Record<string, string> = {
  image: "png jpeg jpg webp gif heic heif bmp ico tif tiff psd",
  video: "mp4 mpeg mov avi flv mpg webm wmv 3gpp mkv m4v",
  audio: "wav mp3 aiff aac ogg flac m4a opus",
  document: "pdf doc docx ppt pptx xls xlsx odt ods odp epub",
  archive: "zip gz tgz bz2 xz zst 7z rar tar jar whl",
  "data file": "parquet feather npy npz pkl sqlite db h5 hdf5 nc",
  program: "exe dll so dylib pyc class wasm",
};
const KINDS = new Map(
  Object.entries(BINARY).flatMap(([kind, suffixes]) =>
    suffixes.split(" ").map((suffix): [string, string] => [suffix, `${suffix.toUpperCase()} ${kind}`]),
  ),
);
const SIGNATURES: readonly (readonly [readonly number[], string])[] = [
  [[0x25, 0x50, 0x44, 0x46, 0x2d], "PDF document"],
  [[0x89, 0x50, 0x4e, 0x47], "PNG image"],
  [[0xff, 0xd8, 0xff], "JPEG image"],
  [[0x47, 0x49, 0x46, 0x38], "GIF image"],
  [[0x50, 0x4b, 0x03, 0x04], "ZIP archive or Office document"],
  [[0x1f, 0x8b], "GZIP archive"],
  [[0xff, 0xfe], "UTF-16 text, which must be saved as UTF-8 first"],
  [[0xfe, 0xff], "UTF-16 text, which must be saved as UTF-8 first"],
];
const CRLF = "\ud800"; // stands for a Windows line end: half a character, which decoded text cannot have
const UNDEFINED_IN_WINDOWS = /[\x81\x8d\x8f\x90\x9d]/g;

const exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const windows = new TextDecoder("windows-1252");

/** What a file with this name holds, if that is not text. */
export function kindOfName(path: string): string | undefined {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 && dot < name.length - 1 ? KINDS.get(name.slice(dot + 1).toLowerCase()) : undefined;
}

/** What a file that starts with these bytes holds, if that is not text. */
export function kindOfContent(start: Uint8Array): string | undefined {
  const known = SIGNATURES.find(([signature]) => signature.every((byte, at) => start[at] === byte));
  return known?.[1] ?? (start.includes(0) ? "binary file" : undefined);
}

export function sizeInWords(size: number): string {
  let left = size;
  for (const unit of ["bytes", "KB", "MB"]) {
    if (left < 1000) return `${left} ${unit}`;
    const thousands = left / 1000;
    left = thousands % 1 === 0.5 ? 2 * Math.round(thousands / 2) : Math.round(thousands);
  }
  return `${left} GB`;
}

/** UTF-8, or else the encoding that old Windows files have. */
export function decode(bytes: Uint8Array): string {
  try {
    return exact.decode(bytes);
  } catch {
    return windows.decode(bytes).replace(UNDEFINED_IN_WINDOWS, "\ufffd");
  }
}

/** The text of a file that is to be edited, which has to be UTF-8. */
export function decodeExactly(bytes: Uint8Array): string {
  try {
    return exact.decode(bytes);
  } catch {
    throw new FileError("The file is not UTF-8 text, so an edit could damage it. Write a new file instead.");
  }
}

export function refuseBinary(path: string, start: Uint8Array, size: number): void {
  const kind = kindOfName(path) ?? kindOfContent(start);
  if (!kind) return;
  const article = /^[AEIOU]/i.test(kind) ? "an" : "a";
  throw new FileError(
    `${repr(nameOf(path))} is ${article} ${kind} (${sizeInWords(size)}), not text: ` +
      "it cannot be read or edited as lines. Ask for its text in a text file.",
  );
}

/** Throws if `content` would make a file that its own programs cannot open. */
export function refuseDamage(path: string, content: string): void {
  const name = nameOf(path);
  const kind = kindOfName(name);
  if (kind) throw new FileError(`${repr(name)} would be a broken ${kind}: only text can be written.`);
  const problem = name.toLowerCase().endsWith(".ipynb") ? notebookProblem(content) : "";
  if (!problem) return;
  throw new FileError(
    `${repr(name)} would no longer open as a notebook: ${problem}. Nothing was changed; ` +
      "write the complete, valid JSON of a notebook.",
  );
}

function notebookProblem(text: string): string {
  let notebook: unknown;
  try {
    notebook = JSON.parse(text);
  } catch {
    return "it is not valid JSON";
  }
  if (typeof notebook !== "object" || notebook === null || Array.isArray(notebook)) return "it is not a JSON object";
  const has = (name: string) => Object.hasOwn(notebook, name);
  const cells = has("cells") && Array.isArray((notebook as Record<string, unknown>)["cells"]);
  return cells && has("nbformat") ? "" : "it has no list of 'cells' or no 'nbformat'";
}

/** Throws for a text that has half of a character: it could not be stored. */
export function refuseHalves(content: string): void {
  if (/\p{Cs}/u.test(content)) {
    throw new FileError("The content has half of a character (a lone surrogate). Write it again without.");
  }
}

/**
 * Replaces an exact text, and says how often; it must occur once unless `every` is wanted.
 *
 * Agents see line feeds only: one in `search` also stands for a Windows line end, and what replaces it gets
 * the line ends of what it replaces.
 */
export function substitute(content: string, search: string, replace: string, every: boolean): [string, number] {
  const [old, fresh] = [search.replaceAll("\r\n", "\n"), replace.replaceAll("\r\n", "\n")];
  if (!old || old === fresh) throw new FileError("old_string is empty or the same as new_string. Say what to change.");
  const marked = content.replaceAll("\r\n", CRLF);
  const plain = marked.replaceAll(CRLF, "\n"); // each character is where it is in `marked`
  const pieces = plain.split(old);
  const count = pieces.length - 1;
  if (count === 0) {
    throw new FileError(
      "old_string is not in the file. It must match exactly, with its spaces and line ends; read the file again. Nothing was changed.",
    );
  }
  if (count > 1 && !every) {
    throw new FileError(
      `old_string occurs ${count} times. Add lines around it to make it unique, or set replace_all to change every one. Nothing was changed.`,
    );
  }
  if (!marked.includes(CRLF)) return [pieces.join(fresh), count];
  if (!marked.includes("\n")) return [pieces.join(fresh).replaceAll("\n", "\r\n"), count];
  return [substituteMixed(marked, plain, old, fresh), count];
}

/** Replaces each `old` of `plain` in `marked`, where every line keeps the end that it has. */
function substituteMixed(marked: string, plain: string, old: string, fresh: string): string {
  const usual = marked.split(CRLF).length > marked.split("\n").length ? "\r\n" : "\n";
  const asWas = (start: number, end?: number) => marked.slice(start, end).replaceAll(CRLF, "\r\n");
  const pieces: string[] = [];
  let done = 0;
  for (let start = plain.indexOf(old); start >= 0; start = plain.indexOf(old, done)) {
    pieces.push(asWas(done, start));
    done = start + old.length;
    pieces.push(withEnds(fresh, asWas(start, done), usual));
  }
  return pieces.join("") + asWas(done);
}

/** Ends the lines of `fresh` as those that it replaces; where it has more, as is usual. */
function withEnds(fresh: string, replaced: string, usual: string): string {
  const ends = replaced.match(/\r?\n/g) ?? [];
  const lines = fresh.split("\n");
  return lines.map((line, at) => (at < lines.length - 1 ? line + (ends[at] ?? usual) : line)).join("");
}
