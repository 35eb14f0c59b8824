/** A file or folder: its name, and at the right edge its size or how it is tied to the other side. */

import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { memo } from "../../parts/memo";
import { nameOf } from "../tools/paths";
import { bytes, endingOf, ICONS, kindOf } from "./kinds";
import type { Link } from "./links";
import type { Item, Row } from "./nodes";
import type { RowDoings } from "./Tree";

const DEEPEST = 10; // levels by which rows are moved to the right; there may be hundreds

interface RowProps {
  row: Row;
  top: number;
  isTabStop: boolean;
  isCurrent: boolean;
  isRenamed: boolean;
  link: Link | undefined;
  onCurrent: (path: string) => void;
  doings: RowDoings;
}

export const TreeRow = memo(function TreeRow({ row, top, isTabStop, isCurrent, isRenamed, link, onCurrent, doings }: RowProps) {
  const { item, depth, open, place, among } = row;
  const element = useRef<HTMLDivElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  const name = legible(nameOf(item.path));
  const choose = (event: MouseEvent) => {
    if ((event.target as Element).closest("button, input")) return;
    onCurrent(item.path);
    element.current!.focus({ preventScroll: true });
    if (open !== undefined) doings.toggle(item.path);
    else if (!item.isDir) doings.open(item, false);
  };
  const menu = () => {
    onCurrent(item.path);
    doings.menu(item, more.current!);
  };
  return (
    <div
      ref={element}
      class="dn-node-row"
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={among}
      aria-expanded={open}
      aria-selected={isCurrent}
      aria-label={labelOf(item, name, link)}
      tabIndex={isTabStop ? 0 : -1}
      style={{ "--l": Math.min(depth, DEEPEST), top: `${top}px` }}
      draggable={!isRenamed}
      data-path={item.path}
      data-folder={item.isDir || undefined}
      onClick={choose}
      onContextMenu={(event) => {
        event.preventDefault();
        event.stopPropagation(); // the notebook has a menu of its own
        menu();
      }}
    >
      {open !== undefined ? <span class="dn-chev"><Icon name="chev" small /></span> : <span class="dn-no-chev" />}
      <Icon name={item.isDir ? "folder" : ICONS[kindOf(item.path)]} />
      {isRenamed ? (
        <Rename item={item} doings={doings} onEnd={() => element.current?.focus({ preventScroll: true })} />
      ) : (
        <span class="dn-cut" title={name}><bdi>{name}</bdi></span>
      )}{" "}
      <span class="dn-meta">
        <Meta item={item} link={link} doings={doings} />
        <button
          ref={more}
          type="button"
          class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
          aria-haspopup="menu"
          aria-label={`More about ${name}`}
          tabIndex={-1}
          onClick={menu}
        >
          <Icon name="more" small />
        </button>
      </span>
    </div>
  );
});

/** What is seen, and then what else there is to say: a name made from the content would have the menu in it. */
function labelOf({ isDir, size, real }: Item, name: string, link: Link | undefined): string {
  const about = [link ? link.words : "", real ? REAL[real] : "", isDir ? "" : bytes(size)];
  return [name, ...about.filter(Boolean)].join(", ");
}

const REAL = { open: "real folder", ask: "Open again", gone: "not found" };

function Meta({ item, link, doings }: { item: Item; link: Link | undefined; doings: RowDoings }) {
  if (item.real === "ask")
    return (
      <button type="button" class="dn-btn dn-btn-sm" onClick={() => doings.allow(item)}>
        Open again
      </button>
    );
  if (item.real === "gone") return <span class="dn-tie" data-tone="bad"><Icon name="warn" />not found</span>;
  if (link)
    return (
      <span class="dn-tie" data-tone={link.tone} title={legible(link.title)}>
        <Icon name={link.icon} />
        {link.words}
      </span>
    );
  if (item.real) return <span class="dn-tie">real folder</span>;
  return item.isDir ? null : <span>{bytes(item.size)}</span>;
}

interface RenameProps {
  item: Item;
  doings: RowDoings;
  onEnd: () => void;
}

function Rename({ item, doings, onEnd }: RenameProps) {
  const input = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  const name = nameOf(item.path);
  useLayoutEffect(() => {
    const ending = item.isDir ? "" : endingOf(item.path);
    input.current!.focus();
    input.current!.setSelectionRange(0, ending ? name.length - ending.length - 1 : name.length);
  }, []);
  const end = (keep: boolean) => {
    if (over.current) return;
    over.current = true;
    const wanted = input.current!.value.trim();
    doings.beginRename(null);
    onEnd();
    if (keep && wanted && wanted !== name) doings.rename(item, wanted);
  };
  return (
    <input
      ref={input}
      class="dn-input dn-rename"
      aria-label={`New name of ${legible(name)}`}
      defaultValue={name}
      // Marks of direction do nothing here, so that what is changed is what is seen.
      data-plain={legible(name) !== name || undefined}
      maxLength={255}
      spellcheck={false}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
      }}
      onBlur={() => end(true)}
    />
  );
}
