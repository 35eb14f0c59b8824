import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Client, WidgetModel } from "../src/client";
import type { News } from "../src/protocol";
import { keepTwin } from "../src/twin";
import { event, news } from "./events";

type Json = { output_type: string; data: Record<string, string> };

const html = (panel: string, text: string) => `<div data-deepnb-static="${panel}">${text}</div>`;

/** A notebook with a cell for each list of outputs, as JupyterLab has it. */
function notebook(...cells: Json[][]): WidgetModel {
  const model = {
    length: cells.length,
    get: (at: number) => ({
      outputs: {
        length: cells[at]!.length,
        get: (place: number) => ({ toJSON: () => cells[at]![place]! }),
        set: (place: number, output: Json) => (cells[at]![place] = output),
      },
    }),
  };
  return { widget_manager: { context: { model: { cells: model } } } } as unknown as WidgetModel;
}

const shown = (text: string): Json => ({ output_type: "display_data", data: { "text/html": text, "text/plain": "HTML" } });

let tell: (told: News) => void;
const request = vi.fn(async (_: string, { panel }: { panel: string }) => ({ name: "", text: html(panel, "new") }));
const client = {
  request,
  onNews: (callback: (told: News, fresh: boolean) => void) => {
    tell = (told) => callback(told, false);
    return () => (tell = () => {});
  },
} as unknown as Client;

beforeEach(() => {
  vi.useFakeTimers();
  tell = () => {};
  request.mockClear();
});
afterEach(() => void vi.useRealTimers());

test("a transcript that the page was loaded with is written anew, once for all that was said", async () => {
  const cells = [[shown("else")], [shown(html("p2", "other")), shown(html("p1", "old"))]];
  const leave = keepTwin(notebook(...cells), "p1", client);
  tell(news([event("message")]));
  tell(news([event("run_ended")]));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(request).toHaveBeenCalledTimes(1);
  expect(cells).toEqual([[shown("else")], [shown(html("p2", "other")), shown(html("p1", "new"))]]);
  leave();
  tell(news([event("message")]));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(request).toHaveBeenCalledTimes(1);
});

test("tokens alone are no reason to write it", async () => {
  keepTwin(notebook([shown(html("p1", "old"))]), "p1", client);
  tell(news([event("token")]));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(request).not.toHaveBeenCalled();
});

test.each([
  ["one that is written by the kernel", notebook([])],
  ["a host that hides its outputs", { widget_manager: {} } as WidgetModel],
])("%s is left alone", async (_, model) => {
  keepTwin(model, "p1", client);
  tell(news([event("message")]));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(request).not.toHaveBeenCalled();
});
