/** The wire: own ids, answers that may come late, pull with push on top, and a kernel that may go. */

import {
  RefusedError,
  type Client,
  type Connection,
  type Fields,
  type Request,
  type RequestType,
  type ResultOf,
  type WidgetModel,
} from "../client";
import type { Chunk, News, Push, Reply } from "../protocol";
import { Host } from "./host";
import { keyOf, onRegistered, successor } from "./registry";

const VERSION = 1;

/** Milliseconds. */
const SLOW = 700; // after which a request is said to wait
const SILENT = 10_000; // after which a kernel of which nothing is known is taken to be gone
const SILENT_IDLE = 4_000; // the same for one that the host says has nothing to do
const GREETING = 1_500; // in which a host that can push has pushed
const RUNNING = 400; // between pulls, where nothing is pushed
const RESTING = 3_000;
const UNHEARD = 5_000; // during a run, after which something may have been missed
const AGAIN = 5_000; // between attempts to reach a kernel that is silent

const LOST = "The kernel is gone, or does not answer. Whether it has taken this is not known: look again when the panel is back.";

interface Pending {
  readonly type: RequestType;
  readonly sent: number;
  late: boolean;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class WireClient implements Client {
  connection: Connection = "connecting";
  /** The thread that is shown. */
  thread = "";
  dead = false;
  refusal = "";

  private readonly view = makeId();
  private readonly pending = new Map<string, Pending>();
  private readonly newsListeners = new Set<(news: News, fresh: boolean) => void>();
  private readonly connectionListeners = new Set<(connection: Connection) => void>();
  private host: Host;
  private key = "";
  private last = 0;
  private replies = 0;
  private running = false;
  private greeted = 0; // when hello was answered; 0 if it was not
  private pushed = 0; // when something came unasked
  private heard = now();
  private pulled = 0;
  private pulling = false;
  private hellos = 0;
  private said = 0;
  private outdated = false; // a kernel of another version will not want this view however often it asks
  private timer = 0;
  private readonly unlisten: () => void;

  constructor(private model: WidgetModel) {
    this.host = this.attach();
    document.addEventListener("visibilitychange", this.look);
    addEventListener("online", this.look);
    this.unlisten = onRegistered(() => {
      if (this.connection === "lost") this.revive();
    });
  }

  /** Says hello; all that was known is made anew by the answer. */
  start(): void {
    this.thread = String(this.model.get("thread") ?? "");
    this.key = keyOf(this.model);
    this.greeted = 0;
    this.hellos = 0;
    this.replies = 0;
    this.drop("hello", "pull");
    this.pulling = false;
    this.hello();
    this.tick();
  }

  request<T extends RequestType>(type: T, fields: Fields<T>, buffers?: ArrayBuffer[]): Promise<ResultOf<T>> {
    if (this.connection === "lost") return Promise.reject(new RefusedError("ConnectionLost", "The kernel is not connected."));
    const answer = this.ask(type, fields, makeId(), buffers) as Promise<ResultOf<T>>;
    this.tick();
    return answer;
  }

  onNews(callback: (news: News, fresh: boolean) => void): () => void {
    this.newsListeners.add(callback);
    return () => this.newsListeners.delete(callback);
  }

  onConnection(callback: (connection: Connection) => void): () => void {
    this.connectionListeners.add(callback);
    return () => this.connectionListeners.delete(callback);
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = -1;
    this.unlisten();
    document.removeEventListener("visibilitychange", this.look);
    removeEventListener("online", this.look);
    this.detach();
    for (const { reject } of this.pending.values()) reject(new RefusedError("ConnectionLost", "The panel was closed."));
    this.pending.clear();
  }

  // The model

  private attach(): Host {
    this.dead = this.outdated = false;
    this.refusal = "";
    this.model.on("msg:custom", this.receive);
    this.model.on("change:thread", this.threadChanged);
    this.model.on("change:key", this.threadChanged);
    return new Host(this.model, () => this.gone());
  }

  private detach(): void {
    this.model.off("msg:custom", this.receive);
    this.model.off("change:thread", this.threadChanged);
    this.model.off("change:key", this.threadChanged);
    this.host.close();
  }

  /** Another thread, or another one of the same name. */
  private readonly threadChanged = () => {
    if (keyOf(this.model) !== this.key) this.start();
  };

  /** Goes on through another model of the session, if there is one. */
  private revive(): void {
    const model = successor(this.model);
    if (!model) return;
    this.detach();
    this.model = model;
    this.host = this.attach();
    this.set("connecting");
    this.start();
  }

  private gone(): void {
    this.dead = true;
    this.lose();
  }

  // Sending

  private ask(type: RequestType, fields: object, id = makeId(), buffers?: ArrayBuffer[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.pending.set(id, { type, sent: now(), late: false, resolve, reject });
      try {
        this.model.send({ ...fields, type, id, view: this.view, thread: this.thread } as Request, undefined, buffers);
      } catch {
        this.gone();
      }
    });
  }

  private hello(): void {
    if (this.outdated) return;
    this.said = now();
    this.hellos += 1;
    this.drop("hello");
    // Whether bytes arrive is seen from the first; a host that loses it for them gets the next one.
    const bytes = this.hellos === 1 ? [new ArrayBuffer(1)] : undefined;
    this.ask("hello", { version: VERSION, host: this.host.name }, makeId(), bytes).then(
      (news) => this.greeted || this.greet(news as News),
      (error: Error) => this.refused(error),
    );
  }

  private greet(news: News): void {
    this.greeted = now();
    this.thread = news.thread; // the panel may show another one by now
    this.last = 0;
    this.refusal = "";
    this.set("live");
    this.take(news, true);
  }

  private refused(error: Error): void {
    if (!(error instanceof RefusedError) || error.kind === "ConnectionLost") return;
    this.refusal = error.message;
    this.outdated = error.kind === "VersionError";
    this.set("lost");
    this.tell(); // it may have been lost before, for another reason
  }

  private pull(): void {
    if (this.pulling || !this.greeted || this.dead) return;
    this.pulling = true;
    this.pulled = now();
    const fields = { since: this.last, replies_since: this.replies, push: this.pushed > 0 };
    this.ask("pull", fields).then(
      (news) => {
        this.pulling = false;
        this.take(news as News, false);
      },
      (error: Error) => {
        this.pulling = false;
        // Where nothing is pushed, this is how a view hears that the panel shows another thread.
        if (error instanceof RefusedError && error.kind === "OtherThreadError") this.start();
      },
    );
  }

  /** Forgets requests of some kinds that are asked again anyway. */
  private drop(...types: RequestType[]): void {
    for (const [id, { type }] of this.pending) {
      if (types.includes(type)) this.pending.delete(id);
    }
  }

  // Receiving

  private readonly receive = (message: unknown, buffers?: readonly DataView[]) => {
    const content = message as Reply | Push | null;
    if (content?.type === "reply" && content.view === this.view) {
      this.heard = now();
      this.settle(content, buffers);
    } else if (!this.outdated && content?.type === "push" && content.news?.events && content.news.replies) {
      const isFirst = !this.pushed;
      this.heard = this.pushed = now();
      if (this.greeted) this.take(content.news, false);
      // A kernel that is busy with a cell tells everything before it can hear a hello.
      else if (content.news.after === 0 && content.news.facts && content.news.thread === this.thread) this.greet(content.news);
      if (isFirst) this.pull(); // so that the kernel knows that it has arrived
    } else return;
    if (this.connection === "lost" && this.greeted) this.start(); // it was only slow
    this.tick();
  };

  private settle(reply: Reply, buffers?: readonly DataView[]): void {
    const pending = this.pending.get(reply.id);
    if (reply.number) this.replies = Math.max(this.replies, reply.number);
    if (!pending) return;
    if (reply.later) {
      pending.late = true;
      return;
    }
    this.pending.delete(reply.id);
    if (reply.error) pending.reject(new RefusedError(reply.error.kind, reply.error.text));
    else pending.resolve(pending.type === "download_chunk" ? withBytes(reply.result as Chunk, buffers?.[0]) : reply.result);
    if (!this.pushes && pending.type !== "pull" && pending.type !== "hello") this.pull();
  }

  private take(news: News, fresh: boolean): void {
    for (const reply of news.replies) if (reply.view === this.view) this.settle(reply);
    if (news.thread !== this.thread) return;
    const missed = news.after > this.last;
    if (!missed) this.last = Math.max(this.last, news.last);
    if (news.facts) this.running = news.facts.status === "running";
    for (const listener of [...this.newsListeners]) listener(news, fresh);
    if (missed || news.more) this.pull();
  }

  /** Whether this host shows what a background thread pushes, as far as is known. */
  private get pushes(): boolean {
    return this.pushed > 0 || now() - this.greeted < GREETING;
  }

  // Time

  private readonly tick = () => {
    if (this.timer === -1) return;
    clearTimeout(this.timer);
    this.judge();
    if (this.connection !== "lost") this.poll();
    else if (!this.dead && document.visibilityState === "visible" && now() - this.said > AGAIN) this.knock();
    const soon = this.pending.size || this.running || !this.pushes || !this.greeted;
    this.timer = setTimeout(this.tick, soon ? 200 : 1000) as unknown as number;
  };

  /** Asks what a page may have missed that was out of sight, or off the net; clocks may have stood still then. */
  private readonly look = (event: Event) => {
    if (document.visibilityState !== "visible" || this.connection === "lost") return;
    if (event.type === "online" || now() - Math.max(this.heard, this.pulled) > UNHEARD) this.pull();
    this.tick();
  };

  /** Says hello to a kernel that was silent; what it has to say begins anew. */
  private knock(): void {
    this.greeted = 0;
    this.hello();
  }

  /** Asks again for what may have been missed, and for what is never pushed. */
  private poll(): void {
    const time = now();
    if (!this.greeted) {
      // A busy kernel has the first hello in its queue; more of them would only make it slower.
      if (this.host.hint !== "busy" && time - this.said > 1000 * 3 ** Math.min(this.hellos - 1, 3)) this.hello();
      return;
    }
    const late = [...this.pending.values()].some((request) => request.late);
    const visible = document.visibilityState === "visible";
    if (this.pushes) {
      if ((this.running || late) && time - Math.max(this.heard, this.pulled) > UNHEARD) this.pull();
    } else if (this.running || late) {
      if (time - this.pulled > RUNNING) this.pull();
    } else if (visible && time - this.pulled > RESTING) this.pull();
  }

  private judge(): void {
    const waiting = [...this.pending.values()].filter((request) => !request.late);
    const oldest = Math.min(...waiting.map((request) => request.sent));
    const waited = waiting.length ? now() - oldest : 0;
    const silent = now() - Math.max(this.heard, waiting.length ? oldest : 0);
    const hint = this.host.hint;
    if (hint === "gone") this.gone();
    else if (this.connection === "lost") return;
    else if (waited > 0 && hint !== "busy" && silent > (hint === "idle" ? SILENT_IDLE : SILENT)) this.lose();
    else if (waited > SLOW && hint !== "idle" && (hint === "busy" || this.greeted)) this.set("busy");
    else this.set(this.greeted ? "live" : "connecting");
  }

  private lose(): void {
    this.pulling = false;
    this.set("lost");
    for (const { reject } of this.pending.values()) reject(new RefusedError("ConnectionLost", LOST));
    this.pending.clear();
    this.revive();
  }

  private set(connection: Connection): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.tell();
  }

  private tell(): void {
    for (const listener of [...this.connectionListeners]) listener(this.connection);
  }
}

/** Puts the bytes of a file to what is said about them; they come beside the message, or in it. */
function withBytes(about: Chunk, beside: DataView | undefined): Chunk & { bytes: Uint8Array } {
  if (beside) return { ...about, bytes: new Uint8Array(beside.buffer, beside.byteOffset, beside.byteLength) };
  return { ...about, bytes: Uint8Array.from(atob(about.data ?? ""), (character) => character.charCodeAt(0)) };
}

function now(): number {
  return performance.now();
}

/** Pages without TLS, as many notebook servers are, have no `crypto.randomUUID`. */
export function makeId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
