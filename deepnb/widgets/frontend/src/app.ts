/** What every part of the panel can reach: the wire, the conversation, and how the view stands. */

import { createContext } from "preact";
import { useContext, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

import type { Client, Connection } from "./client";
import type { Explorer } from "./explorer";
import type { Store } from "./store";
import type { Ui } from "./ui";

export interface App {
  readonly client: Client;
  readonly store: Store;
  readonly ui: Ui;
  readonly explorer: Explorer;
}

const Context = createContext<App | null>(null);
export const AppProvider = Context.Provider;

export function useApp(): App {
  const app = useContext(Context);
  if (!app) throw new Error("a part of the panel was rendered outside of it");
  return app;
}

/** Gives a part of the store, and renders again when that part has changed. */
export function useStore<T>(select: (store: Store) => T): T {
  const { store } = useApp();
  return useObserved(store, select);
}

export function useUi<T>(select: (ui: Ui) => T): T {
  const { ui } = useApp();
  return useObserved(ui, select);
}

export function useConnection(): Connection {
  const { client } = useApp();
  const [connection, set] = useState(client.connection);
  useLayoutEffect(() => {
    set(client.connection);
    return client.onConnection(set);
  }, [client]);
  return connection;
}

/**
 * The same for whatever tells when it has changed.
 *
 * It listens as soon as it is drawn: an effect would wait for a frame, which in a busy page comes after the first click.
 */
export function useObserved<S extends { subscribe(callback: () => void): () => void }, T>(
  source: S,
  select: (source: S) => T,
): T {
  const value = select(source);
  const seen = useRef({ value, select });
  seen.current = { value, select };
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(seen.current.select(source), seen.current.value)) draw(undefined);
    };
    look(); // it may have changed since it was drawn
    return source.subscribe(look);
  }, [source]);
  return value;
}
