/**
 * The models of a page that are alive, by the session that they show.
 *
 * A kernel's restart kills a model, but not the view that somebody looks at. When the session is
 * opened again, in whatever cell, the old view goes on through the new model.
 */

import type { WidgetModel } from "../client";

interface Entry {
  readonly panel: string;
  readonly model: WidgetModel;
}

interface Registry {
  readonly entries: Map<string, Entry>;
  readonly listeners: Set<(key: string) => void>;
}

/** One for the page, also if it has loaded this module more than once. */
function registry(): Registry {
  const page = globalThis as { [key: symbol]: Registry | undefined };
  return (page[Symbol.for("deepnb")] ??= { entries: new Map(), listeners: new Set() });
}

export function register(model: WidgetModel): void {
  const key = keyOf(model);
  if (!key) return;
  const { entries, listeners } = registry();
  entries.set(key, { panel: panelOf(model), model });
  for (const listener of [...listeners]) listener(key);
}

/** Registers a model whose host did not let it be known before it was shown. */
export function registerIfNew(model: WidgetModel): void {
  if (registry().entries.get(keyOf(model))?.panel !== panelOf(model)) register(model);
}

/** A model of another panel for the session that `model` showed, or else for the one that it was made for. */
export function successor(model: WidgetModel): WidgetModel | null {
  const { entries } = registry();
  const found = [keyOf(model), String(model.get("home") ?? "")].map((key) => entries.get(key));
  return found.find((entry) => entry && entry.panel !== panelOf(model))?.model ?? null;
}

export function onRegistered(callback: (key: string) => void): () => void {
  registry().listeners.add(callback);
  return () => registry().listeners.delete(callback);
}

export function keyOf(model: WidgetModel): string {
  return String(model.get("key") ?? "");
}

export function panelOf(model: WidgetModel): string {
  return String(model.get("panel") ?? "");
}
