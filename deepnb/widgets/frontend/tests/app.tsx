/** A panel for tests: the conversation as it is said to be, and a kernel that answers as told. */

import { render, type ComponentChildren } from "preact";
import { act } from "preact/test-utils";
import { vi } from "vitest";

import { AppProvider, type App } from "../src/app";
import type { Client, Connection } from "../src/client";
import { Explorer } from "../src/explorer";
import type { Facts } from "../src/protocol";
import type { Store } from "../src/store";
import { Ui } from "../src/ui";

export const FACTS: Facts = {
  version: 1,
  agent: "deep",
  thread: "main",
  title: "Why the cable failed",
  workspace: "telegraph",
  opening: "import deepnb",
  forked_from: "",
  status: "idle",
  waiting_for: "",
  can_resume: false,
  model: null,
  models: [],
  knowledge: null,
  files: null,
  budget: [],
  payment: null,
  starters: [],
  actions: [],
  takes_messages: true,
  has_todos: true,
  kept: true,
};

export type Shown = Partial<Omit<Store, "facts">> & { facts?: Partial<Facts> | null };

export function panel(shown: Shown = {}) {
  const listeners = new Set<() => void>();
  const links = new Set<(connection: Connection) => void>();
  const request = vi.fn(async (..._call: unknown[]): Promise<unknown> => null);
  const store = {
    last: 0,
    turns: [],
    open: [],
    plan: null,
    sources: new Map(),
    reports: [],
    disclosures: [],
    payments: new Map(),
    trace: [],
    usage: { calls: 0, tokensIn: 0, tokensOut: 0, cost: 0 },
    usageRows: [],
    ...shown,
    facts: shown.facts === null ? null : { ...FACTS, ...shown.facts },
    subscribe: (callback: () => void) => (listeners.add(callback), () => listeners.delete(callback)),
  };
  const client = {
    connection: "live" as Connection,
    dead: false,
    refusal: "",
    request,
    onConnection: (callback: (c: Connection) => void) => (links.add(callback), () => links.delete(callback)),
  };
  const app = {
    client: client as unknown as Client,
    store: store as unknown as Store,
    ui: new Ui(),
    explorer: new Explorer(client as unknown as Client),
  } satisfies App;
  const root = document.createElement("div");
  root.className = "dn";
  document.body.replaceChildren(root);
  return {
    root,
    request,
    ui: app.ui,
    explorer: app.explorer,
    show: (part: ComponentChildren) => act(() => render(<AppProvider value={app}>{part}</AppProvider>, root)),
    /** Has the store say something else. */
    tell: (change: Shown) =>
      act(() => {
        const facts = change.facts ? { ...store.facts, ...change.facts } : store.facts;
        Object.assign(store, change, { facts });
        for (const listener of listeners) listener();
      }),
    connect: (connection: Connection, dead = false) =>
      act(() => {
        Object.assign(client, { connection, dead });
        for (const link of links) link(connection);
      }),
    /** Has the kernel say why it does not want this page. */
    refuse: (refusal: string) =>
      act(() => {
        Object.assign(client, { refusal });
        for (const link of links) link(client.connection);
      }),
    /** The one thing with a role (or a selector) and a name. */
    find: (selector: string, name = "") => {
      const found = [...document.querySelectorAll<HTMLElement>(selector)].filter((element) =>
        `${element.ariaLabel ?? element.getAttribute("aria-label") ?? ""} ${element.textContent}`.includes(name),
      );
      if (!found[0]) throw new Error(`no ${selector} named ${name}`);
      return found[0];
    },
    click: async (element: HTMLElement) => act(async () => element.click()),
    press: (element: HTMLElement, key: string) =>
      act(async () => void element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))),
    type: (element: HTMLElement, value: string) =>
      act(async () => {
        (element as HTMLInputElement).value = value;
        element.dispatchEvent(new InputEvent("input", { bubbles: true }));
      }),
  };
}
