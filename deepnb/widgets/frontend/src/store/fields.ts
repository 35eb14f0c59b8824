/** What is in an event's data, which may lack anything: a log outlives the version that wrote it. */

import { legible } from "../parts/legible";
import type { WireEvent } from "../protocol";

/** A text as it was written. */
export function raw(event: WireEvent, key: string): string {
  const value = event.data[key];
  return typeof value === "string" ? value : "";
}

/** A text that is fit to be looked at. */
export function text(event: WireEvent, key: string): string {
  const value = event.data[key];
  return typeof value === "string" ? legible(value) : "";
}

export function number(event: WireEvent, key: string): number | null {
  const value = event.data[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function object(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
