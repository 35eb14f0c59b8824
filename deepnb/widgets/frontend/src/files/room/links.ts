/** How a row is tied to the other side, in an icon and a few words. */

import type { IconName } from "../../parts/Icon";
import type { Mapping } from "../../protocol";
import { hereOf, thereOf } from "../places";
import { parentOf } from "../tools/paths";
import type { Conflict, Standing, Sync } from "../types";

export interface Link {
  readonly icon: IconName;
  readonly words: string;
  readonly tone?: "warn" | "bad";
  /** More of it, for a pointer that stays. */
  readonly title: string;
  /** What is mapped here; missing where only something inside is in conflict. */
  readonly mapping?: Mapping;
}

export type Side = "mine" | "workspace";
export type Links = ReadonlyMap<string, Link>;

/** What waits for the reader. */
const CONFLICT = { icon: "warn", words: "conflict", tone: "warn", title: "Both sides changed: decide below" } as const;
const DELETED = { icon: "trash", words: "to decide", tone: "warn", title: "Deleted on one side: decide below" } as const;

/** By the path on that side: what is mapped, what is in conflict, and the folders above a conflict. */
export function linksOf(sync: Sync, browser: string, side: Side): Links {
  const links = new Map<string, Link>();
  for (const mapping of sync.mappings) {
    const isOurs = mapping.browser === browser;
    if (!isOurs && side === "mine") continue;
    const path = side === "mine" ? mapping.source : mapping.target;
    links.set(path, { ...stated(mapping, isOurs ? sync.standing(mapping.id) : undefined, isOurs, side), mapping });
  }
  for (const conflict of sync.conflicts) {
    for (let path = placeOf(conflict, side); path !== "/"; path = parentOf(path)) {
      const there = links.get(path);
      const link = conflict.kind === "conflict" || there?.words === CONFLICT.words ? CONFLICT : DELETED;
      links.set(path, there?.mapping ? { ...link, mapping: there.mapping } : link);
    }
  }
  return links;
}

/** Where the file of a conflict is, on one of the sides. */
export function placeOf({ mapping, path }: Conflict, side: Side): string {
  return side === "mine" ? hereOf(mapping, path) : thereOf(mapping, path);
}

function stated(mapping: Mapping, standing: Standing | undefined, isOurs: boolean, side: Side): Link {
  if (!isOurs || standing?.state === "elsewhere")
    return { icon: "monitor", words: "another browser", title: "Mapped from another browser, which keeps the files" };
  switch (standing?.state) {
    case "failed":
      return { icon: "warn", words: "failed", tone: "bad", title: standing.problem };
    case "waiting":
      return { icon: "clock", words: "waiting", title: standing.problem || "Goes on when the other side is there again" };
    case "conflict": // as long as nothing in it says that both sides changed
      return DELETED;
    case "copied":
      return { icon: "right", words: side === "mine" ? "copied" : "from browser", title: "Copied once" };
    case "in step":
      return { icon: "swap", words: "in step", title: "Kept in step both ways" };
    default:
      return { icon: "swap", words: mapping.mode === "copy" ? "copying" : "comparing", title: "Under way" };
  }
}
