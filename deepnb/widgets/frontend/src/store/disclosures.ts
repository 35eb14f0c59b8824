/** What has left the browser, as events tell it. */

import type { Disclosure } from "../model";
import { legible } from "../parts/legible";
import type { WireEvent } from "../protocol";
import { number, raw, text } from "./fields";

const KINDS = ["copy", "sync", "index"] as const;

export function readDisclosure(event: WireEvent): Disclosure {
  const paths = Array.isArray(event.data.paths) ? event.data.paths : [];
  return {
    seq: event.seq,
    time: event.time,
    kind: KINDS.find((kind) => kind === raw(event, "what")) ?? "tool",
    tool: legible(event.name ?? ""),
    paths: paths.filter((path) => typeof path === "string"),
    files: number(event, "files") ?? paths.length,
    bytes: number(event, "bytes") ?? 0,
    detail: text(event, "detail"),
  };
}
