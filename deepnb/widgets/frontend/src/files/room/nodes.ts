/** A listing as a tree: which rows it has, in what order, and which of them fit a filter. */

import type { WorkspaceFile } from "../../protocol";
import { isLitter, isWithin, nameOf, parentOf } from "../tools/paths";
import type { Entry, RealFolder } from "../types";
import { kindOf, type Kind } from "./kinds";

/** A file or folder of either side. */
export interface Item {
  readonly path: string;
  readonly isDir: boolean;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** How a real folder stands, if this is one itself. */
  readonly real?: RealFolder["state"];
  /** It can be had back as it was before the workspace's was put in its place. */
  readonly hasEarlier?: boolean;
}

export interface Row {
  readonly item: Item;
  readonly depth: number;
  /** Of folders that can be looked into. */
  readonly open: boolean | undefined;
  /** Its place among those in the same folder, and how many they are. */
  readonly place: number;
  readonly among: number;
}

export interface Filter {
  readonly name: string;
  readonly kind: Kind | "";
}

export const NO_FILTER: Filter = { name: "", kind: "" };

/** What is shown, and how many files are not, since only the program that has left them has a use for them. */
export interface Listing {
  readonly items: readonly Item[];
  readonly left: number;
}

/** All that this browser keeps was chosen by the reader; what is in a real folder was not. */
export function kept(entries: readonly Entry[], folders: readonly RealFolder[]): Listing {
  const states = new Map(folders.map(({ name, state }) => [`/${name}`, state]));
  const shown = entries.filter(({ path, folder }) => !folder || !isLitter(path.slice(folder.length + 1)));
  const items: Item[] = shown.map(({ path, isDir, size, modified, hasEarlier }) => {
    const real = states.get(path);
    states.delete(path);
    return { path, isDir, size, modified, ...(real && { real }), ...(hasEarlier && { hasEarlier }) };
  });
  // One that cannot be read just now has no entry, and yet it has to be seen.
  for (const [path, real] of states) items.push({ path, isDir: true, size: 0, modified: 0, real });
  return { items, left: count(entries, ({ isDir }) => !isDir) - count(shown, ({ isDir }) => !isDir) };
}

export function ofWorkspace(files: readonly WorkspaceFile[]): Listing {
  const shown = files.filter(({ path }) => !isLitter(path));
  const items = shown.map(({ path, is_dir, size, modified }) => ({ path, isDir: is_dir, size, modified: modified * 1000 }));
  return { items, left: count(files, ({ is_dir }) => !is_dir) - count(shown, ({ is_dir }) => !is_dir) };
}

function count<T>(all: readonly T[], isCounted: (one: T) => boolean): number {
  return all.reduce((sum, one) => sum + Number(isCounted(one)), 0);
}

const order = new Intl.Collator(undefined, { numeric: true });

function inOrder(one: Item, other: Item): number {
  if (one.isDir !== other.isDir) return one.isDir ? -1 : 1;
  return order.compare(one.path, other.path);
}

/** What is in each folder. Only a folder that is looked into is put in order: there may be thousands. */
export class Branches {
  private readonly inside = new Map<string, Item[]>();
  private readonly ordered = new Set<string>();

  constructor(items: readonly Item[]) {
    const known = new Set(items.filter((item) => item.isDir).map((item) => item.path));
    for (const item of items) this.add(item, known);
  }

  of(folder: string): readonly Item[] {
    const items = this.inside.get(folder) ?? [];
    if (!this.ordered.has(folder)) items.sort(inOrder);
    this.ordered.add(folder);
    return items;
  }

  /** All rows that can be seen if these folders are open; null opens all. */
  rows(open: ReadonlySet<string> | null): Row[] {
    const rows: Row[] = [];
    const walk = (folder: string, depth: number) => {
      const items = this.of(folder);
      for (const [index, item] of items.entries()) {
        const canOpen = item.isDir && (item.real ?? "open") === "open";
        const isOpen = canOpen ? open === null || open.has(item.path) : undefined;
        rows.push({ item, depth, open: isOpen, place: index + 1, among: items.length });
        if (isOpen) walk(item.path, depth + 1);
      }
    };
    walk("/", 0);
    return rows;
  }

  /** A listing may leave out the folders that its files are in. */
  private add(item: Item, known: Set<string>): void {
    const folder = parentOf(item.path);
    const beside = this.inside.get(folder);
    if (beside) return void beside.push(item);
    this.inside.set(folder, [item]);
    if (folder === "/" || known.has(folder)) return;
    known.add(folder);
    this.add({ path: folder, isDir: true, size: 0, modified: 0 }, known);
  }
}

/** Those that fit, and the folders that lead to them. */
export function fitting(items: readonly Item[], { name, kind }: Filter): { items: Item[]; count: number } {
  const wanted = name.trim().normalize().toLowerCase();
  const fits = ({ path, isDir }: Item) =>
    nameOf(path).normalize().toLowerCase().includes(wanted) && (!kind || (!isDir && kindOf(path) === kind));
  const found = items.filter(fits);
  const needed = new Set(found.map((item) => item.path));
  for (const item of found)
    for (let folder = parentOf(item.path); folder !== "/" && !needed.has(folder); folder = parentOf(folder)) needed.add(folder);
  return { items: items.filter((item) => needed.has(item.path)), count: found.length };
}

/** The files that something consists of: itself, or all below it that is worth moving. */
export function filesIn(items: readonly Item[], { path, isDir }: Item): Item[] {
  const isIn = (file: string) => isWithin(file, path) && !isLitter(file.slice(path.length));
  return items.filter((item) => !item.isDir && (isDir ? isIn(item.path) : item.path === path));
}

export function sizeOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + item.size, 0);
}
