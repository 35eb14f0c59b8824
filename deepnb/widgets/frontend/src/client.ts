/** The wire: requests that are always answered, and news that are never missed. */

import type {
  Chunk,
  Claimed,
  Code,
  Comparison,
  Deleted,
  Download,
  Exported,
  Listed,
  Mapping,
  News,
  Previewed,
  Received,
  Revealed,
  Sent,
  Stored,
  Upload,
  Wire,
  WorkspaceFiles,
} from "./protocol";

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
  load_files: Code;
  claim: Claimed;
  list_workspace: WorkspaceFiles;
  delete_file: Deleted;
  begin_upload: Upload;
  send_files: Sent;
  upload_chunk: Received;
  end_upload: Stored;
  /** Its bytes, however they have come. */
  download_chunk: Chunk & { bytes: Uint8Array };
  map_files: Mapping;
  compare_files: Comparison;
  fetch_page: Stored;
  reveal_refund: Revealed;
  load_qr: Code;
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
  /**
   * Rejects with `RefusedError` if the kernel refuses, or is gone before it has answered. There are hosts that
   * lose the `buffers` beside a message.
   */
  request<T extends RequestType>(type: T, fields: Fields<T>, buffers?: ArrayBuffer[]): Promise<ResultOf<T>>;
  /** `fresh` news begin a conversation anew: what was known before them is not to be kept. */
  onNews(callback: (news: News, fresh: boolean) => void): () => void;
  onConnection(callback: (connection: Connection) => void): () => void;
  close(): void;
}
