/** What those who work over the wire for long have in common: it may be cut, and another page may be at work. */

import { RefusedError, type Client, type Connection } from "../client";

/** Milliseconds. */
const PATIENCE = 60_000; // after which a message is taken to be lost: a busy kernel is asked again no more often
const RENEWAL = 8_000; // the kernel takes a page to be gone that has claimed nothing for 20 seconds

/** Bytes: servers lose messages of more than 10 MiB, and say nothing. */
export const LONGEST_MESSAGE = 8 * 1024 * 1024;

/** Whether it is the connection that has failed, or the panel that shows another thread: to try again helps. */
export function isLost(error: unknown): boolean {
  return error instanceof RefusedError && (error.kind === "ConnectionLost" || error.kind === "OtherThreadError");
}

export function isUp(connection: Connection): boolean {
  return connection === "live" || connection === "busy";
}

/** Resolves when there is a kernel to talk to. */
export function live(client: Client): Promise<void> {
  if (isUp(client.connection)) return Promise.resolve();
  return new Promise((resolve) => {
    const leave = client.onConnection((connection) => {
      if (!isUp(connection)) return;
      leave();
      resolve();
    });
  });
}

/** Calls when the kernel can be talked to again. */
export function onBack(client: Client, callback: () => void): () => void {
  let isDown = !isUp(client.connection);
  return client.onConnection((connection) => {
    const isBack = isDown && isUp(connection);
    isDown = !isUp(connection);
    if (isBack) callback();
  });
}

/** The answer to a request, or after a while without one an error, as if the connection had been cut. */
export function heard<T>(answer: Promise<T>, patience = PATIENCE): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_, reject) => {
    const lost = () => reject(new RefusedError("ConnectionLost", "The kernel has not answered."));
    timer = setTimeout(lost, patience);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}

/** Whether this page is to do something that only one is to do. */
export async function claim(client: Client, what: string): Promise<boolean> {
  return (await heard(client.request("claim", { what }))).granted;
}

/** Keeps a claim while something is done that takes long; `first` is when it is renewed first. */
export async function whileClaimed<T>(client: Client, what: string, work: () => Promise<T>, first = RENEWAL): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const renew = () => {
    void claim(client, what).catch(() => {});
    timer = setTimeout(renew, RENEWAL);
  };
  timer = setTimeout(renew, first);
  try {
    return await work();
  } finally {
    clearTimeout(timer!);
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
