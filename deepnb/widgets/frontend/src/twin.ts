/**
 * The transcript that was saved beside a panel, kept up to date in a page that was reloaded.
 *
 * The kernel writes it anew by its display id; but JupyterLab forgets those with the page, and a
 * kernel that has ended cannot write. Other hosts show no way to their outputs, and keep what is saved.
 */

import type { Client, WidgetModel } from "./client";
import type { News } from "./protocol";

interface Output {
  readonly data?: Record<string, unknown>;
}

interface Outputs {
  readonly length: number;
  get(index: number): { toJSON(): Output };
  set(index: number, output: Output): void;
}

interface Cells {
  readonly length: number;
  get(index: number): { outputs?: Outputs };
}

const TELLING = new Set(["queued", "run_started", "message", "interrupt_opened", "interrupt_closed", "run_ended"]);
const PAUSE = 1000; // ms until it is written anew

/** Call it before the kernel is greeted: a transcript that is there by then is an old one. */
export function keepTwin(model: WidgetModel, panel: string, client: Client): () => void {
  const cells = cellsOf(model);
  if (!cells || !replace(cells, panel)) return () => {};
  let timer = 0;
  const refresh = async () => {
    timer = 0;
    const { text } = await client.request("transcribe", { panel });
    replace(cells, panel, text);
  };
  const unlisten = client.onNews((news: News) => {
    if (timer || !news.events.some((event) => TELLING.has(event.kind))) return;
    // A kernel that is gone says so in the panel.
    timer = setTimeout(() => void refresh().catch(() => {}), PAUSE) as unknown as number;
  });
  return () => {
    unlisten();
    clearTimeout(timer);
  };
}

function cellsOf(model: WidgetModel): Cells | null {
  const manager = model.widget_manager as { context?: { model?: { cells?: Cells } } } | undefined;
  return manager?.context?.model?.cells ?? null;
}

/** Finds the transcript in the outputs, and puts another in its place if one is given. */
function replace(cells: Cells, panel: string, html?: string): boolean {
  for (let at = 0; at < cells.length; at++) {
    const { outputs } = cells.get(at);
    for (let place = 0; outputs && place < outputs.length; place++) {
      const output = outputs.get(place).toJSON();
      const before = String(output.data?.["text/html"] ?? "");
      if (!before.includes(`data-deepnb-static="${panel}"`)) continue;
      // The kernel may have reached it after all, and to set it has all of it drawn again.
      if (html !== undefined && html !== before) outputs.set(place, { ...output, data: { ...output.data, "text/html": html } });
      return true;
    }
  }
  return false;
}
