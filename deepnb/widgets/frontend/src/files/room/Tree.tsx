/** A tree of files. Only rows in sight are in the page, and the one that the Tab key leads to. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { windowOf, type Sight } from "../../tabs/traceWindow";
import { nameOf, parentOf } from "../tools/paths";
import type { Links } from "./links";
import type { Item, Row } from "./nodes";
import { TreeRow } from "./TreeRow";

const UNSEEN: Sight = { top: 0, height: 400, rowHeight: 28, detailHeight: 0 };
const TYPED = 700; // ms within which letters belong to one name

/** What can be done with a row; the tree knows no more of it. */
export interface RowDoings {
  /** `byKey`: who pressed a key wants to read on where it opens. */
  open(item: Item, byKey: boolean): void;
  toggle(path: string): void;
  menu(item: Item, anchor: HTMLButtonElement): void;
  rename(item: Item, name: string): void;
  /** Null ends it. */
  beginRename(path: string | null): void;
  remove(item: Item): void;
  /** Asks the browser for a real folder again. */
  allow(item: Item): void;
}

interface TreeProps {
  label: string;
  rows: readonly Row[];
  links: Links;
  /** The path that was chosen last, and the one whose name is being changed. */
  current: string;
  renaming: string | null;
  onCurrent: (path: string) => void;
  doings: RowDoings;
}

export function Tree({ label, rows, links, current, renaming, onCurrent, doings }: TreeProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState(UNSEEN);
  const typed = useRef({ text: "", at: 0 });
  const place = useRef(0); // what was chosen may be gone: then it is what stands there now
  const found = rows.findIndex((row) => row.item.path === current);
  const chosen = Math.max(0, found < 0 ? Math.min(place.current, rows.length - 1) : found);
  place.current = chosen;
  const stop = rows[chosen]?.item.path;
  const hadFocus = Boolean(scroller.current?.querySelector("[role=treeitem]:focus")); // before anything is drawn

  const look = () => setSight((before) => seen(scroller.current!, before));
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      look();
      // What opens below makes it lower: who has just chosen a row still wants to see it.
      const focused = scroller.current!.querySelector<HTMLElement>("[role=treeitem]:focus");
      if (focused) reveal(scroller.current!, focused.offsetTop, focused.offsetHeight);
    });
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const focus = () => {
    reveal(scroller.current!, chosen * sight.rowHeight, sight.rowHeight);
    scroller.current!.querySelector<HTMLElement>("[role=treeitem][tabindex='0']")?.focus({ preventScroll: true });
  };
  // Who is in the tree stays in it, whatever happens to the row: it may have another name now, or be gone.
  useLayoutEffect(() => {
    if (hadFocus) focus();
  }, [stop]);
  useLayoutEffect(() => {
    if (hadFocus && !scroller.current!.querySelector(":focus")) focus();
  });

  const go = (index: number) => {
    const path = rows[index]?.item.path;
    if (path === undefined) return;
    if (path !== current) onCurrent(path);
    else focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const element = event.target as HTMLElement;
    // What has the focus is meant, whatever was chosen before: a screen reader goes its own ways.
    const at = element.matches("[role=treeitem]") ? rows.findIndex((row) => row.item.path === element.dataset.path) : -1;
    if (at >= 0 && (act(event, at, element) || walk(event, at))) event.preventDefault();
  };
  /** Keys that do something with a row. */
  const act = ({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent, at: number, element: HTMLElement): boolean => {
    const { item, open, depth } = rows[at]!;
    const isDelete = key === "Delete" || (key === "Backspace" && metaKey); // as on a Mac, which has no other
    if ((ctrlKey || metaKey || altKey) && !isDelete) return false;
    if (isDelete) doings.remove(item);
    else if (key === "F2") doings.beginRename(item.path);
    else if (key === "ContextMenu" || (key === "F10" && shiftKey)) doings.menu(item, element.querySelector("[aria-haspopup]")!);
    else if (key === "Enter" || (key === " " && !isTyping())) enter(item, open);
    else if (key === "ArrowRight" && open === false) doings.toggle(item.path);
    else if (key === "ArrowRight" && open && rows[at + 1]?.depth === depth + 1) go(at + 1);
    else if (key === "ArrowLeft" && open) doings.toggle(item.path);
    else if (key === "ArrowLeft") go(rows.findIndex((row) => row.item.path === parentOf(item.path)));
    else return false;
    return true;
  };
  const enter = (item: Item, open: Row["open"]) => {
    if (open !== undefined) doings.toggle(item.path);
    else if (item.real === "ask") doings.allow(item);
    else if (!item.isDir) doings.open(item, true);
  };
  /** Keys that lead to another row. */
  const walk = (event: KeyboardEvent, at: number): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const page = Math.max(1, Math.floor(sight.height / sight.rowHeight) - 1);
    const next = target(event.key, at, rows.length, page) ?? (event.key.length === 1 ? ahead(event.key, at) : null);
    if (next !== null) go(next);
    return next !== null;
  };
  const isTyping = () => typed.current.text !== "" && performance.now() - typed.current.at < TYPED;
  /** The next row whose name begins with what is being typed. */
  const ahead = (letter: string, at: number): number | null => {
    const text = (isTyping() ? typed.current.text : "") + letter.toLowerCase();
    typed.current = { text, at: performance.now() };
    const from = text.length === 1 ? at + 1 : at;
    for (let step = 0; step < rows.length; step++) {
      const index = (from + step) % rows.length;
      if (nameOf(rows[index]!.item.path).toLowerCase().startsWith(text)) return index;
    }
    return null;
  };

  const { first, last } = windowOf(rows.length, -1, sight);
  const shown = Array.from({ length: last - first }, (_, index) => first + index);
  if (rows.length && (chosen < first || chosen >= last)) shown.push(chosen);
  return (
    <div ref={scroller} class="dn-tree" onScroll={look}>
      <div role="tree" aria-label={label} style={{ height: `${rows.length * sight.rowHeight}px` }} onKeyDown={onKeyDown}>
        {shown.map((index) => {
          const row = rows[index]!;
          return (
            <TreeRow
              key={row.item.path}
              row={row}
              top={index * sight.rowHeight}
              isTabStop={index === chosen}
              isCurrent={row.item.path === current}
              isRenamed={row.item.path === renaming}
              link={links.get(row.item.path)}
              onCurrent={onCurrent}
              doings={doings}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Where a key leads; null for those that lead nowhere. */
function target(key: string, from: number, count: number, page: number): number | null {
  const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : Math.max(0, Math.min(count - 1, to));
}

/** The same object if nothing changed, so that nothing is drawn again. */
function seen(scroller: HTMLElement, before: Sight): Sight {
  const top = scroller.scrollTop;
  const height = scroller.clientHeight || before.height;
  const rowHeight = scroller.querySelector<HTMLElement>(".dn-node-row")?.offsetHeight || before.rowHeight;
  const same = top === before.top && height === before.height && rowHeight === before.rowHeight;
  return same ? before : { ...before, top, height, rowHeight };
}

function reveal(scroller: HTMLElement, top: number, height: number): void {
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + height - scroller.clientHeight;
}
