/** Icons: a 16 px grid, 1.5 stroke, round, the colour of their text; never alone for meaning. */

import type { JSX } from "preact";

const SHAPES = {
  mark: () => (
    <><path d="M3 3.25h10M8 3.25v6.5"/><circle cx="8" cy="11.75" r="2"/></>
  ),
  check: () => (
    <><path d="m3.5 8.5 3 3 6-7"/></>
  ),
  x: () => (
    <><path d="m4.25 4.25 7.5 7.5m0-7.5-7.5 7.5"/></>
  ),
  chev: () => (
    <><path d="m6.25 4 4 4-4 4"/></>
  ),
  down: () => (
    <><path d="m4 6.25 4 4 4-4"/></>
  ),
  up: () => (
    <><path d="M8 12.75v-9.5m-4 4 4-4 4 4"/></>
  ),
  stop: () => (
    <><rect x="4.25" y="4.25" width="7.5" height="7.5" rx="1.25"/></>
  ),
  plus: () => (
    <><path d="M8 3.25v9.5M3.25 8h9.5"/></>
  ),
  search: () => (
    <><circle cx="7" cy="7" r="4.25"/><path d="m10.25 10.25 3.25 3.25"/></>
  ),
  text: () => (
    <><path d="M4 2.25h5l3.25 3.25v8.25H4z"/><path d="M6.25 8.25h3.75M6.25 10.75h3.75"/></>
  ),
  folder: () => (
    <><path d="M2.25 4.5c0-.7.55-1.25 1.25-1.25h2.6l1.5 1.75h4.9c.7 0 1.25.55 1.25 1.25v5.25c0 .7-.55 1.25-1.25 1.25h-9c-.7 0-1.25-.55-1.25-1.25z"/></>
  ),
  table: () => (
    <><rect x="2.25" y="3" width="11.5" height="10" rx="1.25"/><path d="M2.25 6.5h11.5M6.5 6.5V13"/></>
  ),
  globe: () => (
    <><circle cx="8" cy="8" r="5.75"/><path d="M2.25 8h11.5M8 2.25c1.75 1.6 2.6 3.5 2.6 5.75S9.75 12.15 8 13.75C6.25 12.15 5.4 10.25 5.4 8S6.25 3.85 8 2.25z"/></>
  ),
  pencil: () => (
    <><path d="m3 13 .6-2.9 7.1-7.1 2.3 2.3-7.1 7.1zM9.25 4.5l2.25 2.25"/></>
  ),
  copy: () => (
    <><rect x="5.5" y="5.5" width="7.75" height="7.75" rx="1.25"/><path d="M10.5 5.25V4c0-.7-.55-1.25-1.25-1.25H4c-.7 0-1.25.55-1.25 1.25v5.25c0 .7.55 1.25 1.25 1.25h1.25"/></>
  ),
  retry: () => (
    <><path d="M13 8a5 5 0 1 1-1.6-3.65"/><path d="M13.25 2.5v2.75H10.5"/></>
  ),
  fork: () => (
    <><circle cx="4.25" cy="3.75" r="1.5"/><circle cx="4.25" cy="12.25" r="1.5"/><circle cx="11.75" cy="5.75" r="1.5"/><path d="M4.25 5.25v5.5M11.75 7.25c0 2.25-3.5 2-6.2 3.9"/></>
  ),
  clock: () => (
    <><circle cx="8" cy="8" r="5.75"/><path d="M8 4.75V8l2.25 1.5"/></>
  ),
  history: () => (
    <><path d="M3 8a5 5 0 1 0 1.6-3.65"/><path d="M2.75 2.5v2.75H5.5M8 5.5V8l1.75 1.25"/></>
  ),
  list: () => (
    <><path d="M6.75 4h6.5M6.75 8h6.5M6.75 12h6.5"/><path d="m2.5 4 .75.75L4.75 3M2.75 8h1.5M2.75 12h1.5"/></>
  ),
  side: () => (
    <><rect x="2.25" y="3" width="11.5" height="10" rx="1.5"/><path d="M9.75 3v10"/></>
  ),
  more: () => (
    <><path d="M3.75 8h.01M8 8h.01M12.25 8h.01" stroke-width="2"/></>
  ),
  think: () => (
    <><path d="M8 2.5a4.25 4.25 0 0 0-2.4 7.75c.4.3.65.7.65 1.2v.3h3.5v-.3c0-.5.25-.9.65-1.2A4.25 4.25 0 0 0 8 2.5zM6.75 13.75h2.5"/></>
  ),
  quote: () => (
    <><path d="M6.5 5.25c-2 .4-3 1.75-3 3.5v2h3v-3h-1.6M12.5 5.25c-2 .4-3 1.75-3 3.5v2h3v-3h-1.6"/></>
  ),
  shield: () => (
    <><path d="M8 2.25 3.25 4v3.75c0 2.9 1.9 5 4.75 6 2.85-1 4.75-3.1 4.75-6V4z"/></>
  ),
  monitor: () => (
    <><rect x="2.25" y="3" width="11.5" height="7.75" rx="1.25"/><path d="M5.75 13.25h4.5M8 10.75v2.5"/></>
  ),
  right: () => (
    <><path d="M3.25 8h9.5m-4-4 4 4-4 4"/></>
  ),
  download: () => (
    <><path d="M8 3v7.5m-3-3 3 3 3-3M3 10.5v1.25c0 .7.55 1.25 1.25 1.25h7.5c.7 0 1.25-.55 1.25-1.25V10.5"/></>
  ),
  warn: () => (
    <><path d="M8 2.75 14 13H2z"/><path d="M8 6.5v3M8 11.4h.01"/></>
  ),
  info: () => (
    <><circle cx="8" cy="8" r="5.75"/><path d="M8 7.5v3.25M8 5.25h.01"/></>
  ),
  unplug: () => (
    <><path d="M5.75 2v3M10.25 2v3M3.75 5h8.5v2.25a4.25 4.25 0 0 1-8.5 0zM8 11.5V14"/></>
  ),
  grip: () => (
    <><path d="M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01" stroke-width="1.75"/></>
  ),
  ask: () => (
    <><path d="M8 2.75c3.3 0 5.75 2.1 5.75 4.85S11.3 12.5 8 12.5c-.6 0-1.2-.1-1.75-.2L3.5 13.5l.35-2.6C2.85 10 2.25 8.85 2.25 7.6 2.25 4.85 4.7 2.75 8 2.75z"/></>
  ),
  trash: () => (
    <><path d="M3 4.5h10M6.25 4.25V3h3.5v1.25M4.25 4.75 4.9 13h6.2l.65-8.25"/></>
  ),
  pause: () => (
    <><path d="M5.75 4v8M10.25 4v8"/></>
  ),
  model: () => (
    <><rect x="4" y="4" width="8" height="8" rx="1.5"/><path d="M6.5 4V2.25M9.5 4V2.25M6.5 13.75V12M9.5 13.75V12M4 6.5H2.25M4 9.5H2.25M13.75 6.5H12M13.75 9.5H12"/></>
  ),
  agent: () => (
    <><circle cx="4" cy="8" r="1.75"/><circle cx="12" cy="4" r="1.75"/><circle cx="12" cy="12" r="1.75"/><path d="m5.6 7.2 4.8-2.4M5.6 8.8l4.8 2.4"/></>
  ),
  user: () => (
    <><circle cx="8" cy="5.5" r="2.5"/><path d="M3.25 13.25c.5-2.4 2.3-3.75 4.75-3.75s4.25 1.35 4.75 3.75"/></>
  ),
  scale: () => (
    <><path d="M8 3v10M5 13h6M3.5 4.75h9M3.5 4.75 1.9 9h3.2zM12.5 4.75 10.9 9h3.2z"/></>
  ),
  steer: () => (
    <><path d="M3 13V8.5c0-1.4 1.1-2.5 2.5-2.5h7M9.75 3.25 12.5 6 9.75 8.75"/></>
  ),
} satisfies Record<string, () => JSX.Element>;

export type IconName = keyof typeof SHAPES;

export function isIconName(name: string): name is IconName {
  return Object.hasOwn(SHAPES, name);
}

export function Icon({ name, small = false }: { name: IconName; small?: boolean }) {
  return (
    <svg class={small ? "dn-i dn-i-sm" : "dn-i"} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]()}
    </svg>
  );
}
