/** The file explorer's code, loaded when it is needed, and the reader's files, once they are open. */

import type { App } from "./app";
import type { Client } from "./client";
import type * as module from "./files/index";
import { onBack } from "./files/link";
import { hasStore } from "./files/shelf/stores";
import type { Files } from "./files/types";
import { later, moduleOf } from "./later";
import { readRequest, titleOf, type Asked } from "./questions/requests";
import { SHARED } from "./shared";
import type { Store } from "./store";

type Module = typeof module;

/** Of a conversation, which may begin anew, all that files have to do with. */
export type Session = Pick<App, "client"> & { readonly store: Pick<Store, "facts" | "open" | "subscribe"> };

export class Explorer {
  /** Null until it is loaded. */
  room: Module["FilesRoom"] | null = null;
  files: Files | null = null;
  problem = "";

  private store: Store | null = null;
  private known = ""; // the store that was looked for
  private wasUnasked = false; // whether what has failed was done before anybody wanted it
  private opening = false;
  private closed = false;
  private readonly listeners = new Set<() => void>();

  private readonly leave: () => void;

  constructor(private readonly client: Client) {
    this.leave = onBack(client, () => {
      this.problem = "";
      this.look();
    });
  }

  /** Has to do with this conversation from now on; what is under way goes on. */
  follow(store: Store): void {
    this.store = store;
    this.look();
  }

  /** Loads it, if that has not been done. */
  async open(): Promise<void> {
    if (this.opening || this.files || !this.store?.facts?.files) return;
    this.opening = true;
    this.problem = "";
    try {
      const { openFiles, FilesRoom } = await load(this.client);
      const files = await openFiles(this.session());
      if (this.closed) return files.close();
      files.serving.subscribe(() => this.tell());
      this.files = files;
      this.room = FilesRoom;
    } catch (error) {
      this.problem = (error as Error).message;
    }
    this.opening = false;
    this.tell();
  }

  /** Loads it before it is wanted: what fails is tried again when it is. */
  async openAhead(): Promise<void> {
    if (this.problem) return;
    await this.open();
    this.wasUnasked = this.problem !== "";
  }

  subscribe(callback: () => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  close(): void {
    this.closed = true;
    this.leave();
    this.files?.close();
  }

  /**
   * Sees what has become of the conversation; call it after all news, also in a page that is not seen: the agent waits.
   * Files that are kept in step, and an agent that asks for some, need the explorer also if nobody looks at it.
   */
  look(): void {
    if (!this.store) return;
    const { facts, open } = this.store;
    const asked = open.some(({ request }) => concernsFiles(readRequest(request)));
    const isWanted = asked || facts?.files?.mappings.length;
    // What has failed is tried again by the reader, or when the kernel is back.
    if (isWanted && (!this.problem || this.wasUnasked)) {
      this.wasUnasked = false;
      void this.open();
    } else if (facts?.files && facts.files.shelf !== this.known) this.lookAhead(facts.files.shelf);
    this.tell();
  }

  /** Who has files here will want to see them: then they are there at once. It waits until the page has nothing else to do. */
  private lookAhead(shelf: string): void {
    this.known = shelf;
    const open = async () => {
      if (await hasStore(shelf)) void this.openAhead();
    };
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => void open());
  }

  private session(): Session {
    const current = () => this.store!;
    return {
      client: this.client,
      store: {
        get facts() {
          return current().facts;
        },
        get open() {
          return current().open;
        },
        subscribe: (callback) => this.subscribe(callback),
      },
    };
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** Whether a question is about the reader's files: the agent wants to use them, or to change them. */
function concernsFiles(asked: Asked): boolean {
  if (asked.kind !== "approval") return asked.kind === "client";
  return asked.actions.some((action) => /^\/?files\//.test(titleOf(action).object));
}

const load = later(async (client): Promise<Module> => {
  const { code } = await client.request("load_files", {});
  const { default: make } = await moduleOf<{ default(require: (name: string) => unknown): Module }>(code);
  return make((name) => SHARED[name]);
});
