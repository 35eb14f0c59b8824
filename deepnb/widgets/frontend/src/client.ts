/** The wire: requests that are always answered, and news that are never missed. */

import type { Download, Exported, Listed, News, Previewed, Wire } from "./protocol";

export type Request = Wire["request"];
export type RequestType = Request["type"];

export type Fields<T extends RequestType> = Omit<
  Extract<Request, { type: T }>,
  "type" | "id" | "view" | "thread"
>;

interface Results {
  hello: News;
  pull: News;
  preview: Previewed;
  threads: Listed;
  export: Exported;
  export_report: Download;
  transcribe: Exported;
}
export type ResultOf<T extends RequestType> = T extends keyof Results ? Results[T] : null;

/** What anywidget gives a view to talk to its kernel with. */
export interface WidgetModel {
  get(name: string): unknown;
  send(content: unknown, callbacks?: undefined, buffers?: ArrayBuffer[]): void;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback?: ((...args: never[]) => void) | null): void;
  widget_manager?: unknown;
}

/**
 * How the kernel is doing, as far as can be told from here.
 *
 * `connecting` before the first news, `live`, `busy` while a request waits behind a cell of the
 * person's own, and `lost` when the kernel is gone or does not answer.
 */
export type Connection = "connecting" | "live" | "busy" | "lost";

/** The kernel has refused a request; the message says why and what to do. */
export class RefusedError extends Error {
  constructor(
    readonly kind: string,
    text: string,
  ) {
    super(text);
  }
}

export interface Client {
  readonly connection: Connection;
  /** Whether the kernel is known to be gone: nothing that is sent arrives. Else it may only be silent. */
  readonly dead: boolean;
  /** Why the kernel does not want this page; empty as long as it has said nothing against it. */
  readonly refusal: string;
  /** Rejects with `RefusedError` if the kernel refuses, or is gone before it has answered. */
  request<T extends RequestType>(type: T, fields: Fields<T>): Promise<ResultOf<T>>;
  /** `fresh` news begin a conversation anew: what was known before them is not to be kept. */
  onNews(callback: (news: News, fresh: boolean) => void): () => void;
  onConnection(callback: (connection: Connection) => void): () => void;
  close(): void;
}
