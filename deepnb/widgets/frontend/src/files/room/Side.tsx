/** One of the two homes: its head, its filter, its tree, and where things are dropped. */

import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

import { tokens } from "../../parts/format";
import { Icon, type IconName } from "../../parts/Icon";
import { parentOf } from "../tools/paths";
import { KINDS, type Kind } from "./kinds";
import type { Links, Side as Home } from "./links";
import { Branches, fitting, NO_FILTER, type Filter, type Item } from "./nodes";
import { Tree, type RowDoings } from "./Tree";

/** How a tree stands; it outlives a look at another tab. */
export interface Stand {
  readonly open: ReadonlySet<string>;
  readonly current: string;
  /** Null if nothing is looked for. */
  readonly filter: Filter | null;
}

interface SideProps {
  home: Home;
  title: string;
  icon: IconName;
  /** Beside the title. */
  where: ComponentChildren;
  /** Null until they are known. */
  items: readonly Item[] | null;
  links: Links;
  stand: Stand;
  onStand: (change: Partial<Stand>) => void;
  renaming: string | null;
  doings: Omit<RowDoings, "toggle">;
  /** Buttons in the head. */
  actions: ComponentChildren;
  /** In place of a tree that has nothing in it. */
  empty: string;
  onDrag: (item: Item | null) => void;
  onDrop: (folder: string, data: DataTransfer) => void;
  onPaste?: (data: DataTransfer) => boolean;
  /** Under the tree. */
  children?: ComponentChildren;
}

export function Side(props: SideProps) {
  const { home, title, icon, where, items, links, stand, onStand, renaming, doings, actions, empty } = props;
  const { filter } = stand;
  const section = useRef<HTMLElement>(null);
  const found = useMemo(
    () => (items && filter && (filter.name.trim() || filter.kind) ? fitting(items, filter) : null),
    [items, filter],
  );
  const branches = useMemo(() => new Branches(found?.items ?? items ?? []), [found, items]);
  const rows = useMemo(() => branches.rows(found ? null : stand.open), [branches, found, stand.open]);
  const toggle = (path: string) => {
    const open = new Set(stand.open);
    if (!open.delete(path)) open.add(path);
    onStand({ open });
  };
  const toggleFilter = () => {
    onStand({ filter: filter ? null : NO_FILTER });
    // Whoever has opened it wants to type.
    requestAnimationFrame(() => section.current?.querySelector<HTMLElement>("[type=search]")?.focus());
  };
  const told = useRef<RowDoings>({ ...doings, toggle });
  Object.assign(told.current, doings, { toggle }); // one object, so that rows are not drawn again
  const dropping = useDropping(props);
  return (
    <section
      ref={section}
      aria-label={title}
      data-home={home}
      data-dropping={dropping.isOver || undefined}
      {...dropping.handlers}
      onPaste={(event) => {
        if ((event.target as Element).matches("input, textarea") || !event.clipboardData) return;
        if (props.onPaste?.(event.clipboardData)) event.preventDefault();
      }}
    >
      <div class="dn-head">
        <Icon name={icon} />
        {title}
        {where}
        <span class="dn-push dn-row dn-side-acts">
          <button
            type="button"
            class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
            aria-label={`Filter ${title}`}
            title="Filter"
            aria-pressed={filter !== null}
            onClick={toggleFilter}
          >
            <Icon name="search" small />
          </button>
          {actions}
        </span>
      </div>
      {filter && (
        <FilterRow title={title} filter={filter} found={found?.count} all={items?.length ?? 0} onFilter={(filter) => onStand({ filter })} />
      )}
      {rows.length > 0 ? (
        <Tree
          label={title}
          rows={rows}
          links={links}
          current={stand.current}
          renaming={renaming}
          onCurrent={(current) => onStand({ current })}
          doings={told.current}
        />
      ) : (
        <p class="dn-tree-empty">{items === null ? "Reading…" : found ? "No name fits this filter." : empty}</p>
      )}
      {props.children}
    </section>
  );
}

interface FilterProps {
  title: string;
  filter: Filter;
  found: number | undefined;
  all: number;
  onFilter: (filter: Filter | null) => void;
}

function FilterRow({ title, filter, found, all, onFilter }: FilterProps) {
  return (
    <div class="dn-row dn-filter" onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onFilter(null))}>
      <div class="dn-search dn-grow">
        <Icon name="search" small />
        <input
          class="dn-input"
          type="search"
          aria-label={`Filter ${title} by name`}
          placeholder="Name"
          value={filter.name}
          onInput={(event) => onFilter({ ...filter, name: event.currentTarget.value })}
        />
      </div>
      <select
        class="dn-input dn-select"
        aria-label={`Filter ${title} by type`}
        value={filter.kind}
        onChange={(event) => onFilter({ ...filter, kind: event.currentTarget.value as Kind | "" })}
      >
        <option value="">All types</option>
        {KINDS.map(([kind, words]) => <option key={kind} value={kind}>{words}</option>)}
      </select>
      <span class="dn-small dn-faint dn-nowrap" role="status">{found === undefined ? "" : `${tokens(found)} of ${tokens(all)}`}</span>
    </div>
  );
}

/** Rows are dragged, and folders or the whole side take what is dropped. */
function useDropping({ items, onDrag, onDrop }: SideProps) {
  const [isOver, setOver] = useState(false);
  const folderAt = (target: EventTarget | null): { folder: string; row: HTMLElement | null } => {
    const row = (target as Element).closest<HTMLElement>("[data-path]");
    if (!row) return { folder: "/", row: null };
    const { path = "/", folder } = row.dataset;
    return { folder: folder === undefined ? parentOf(path) : path, row };
  };
  const mark = (section: Element, row: HTMLElement | null) => {
    for (const marked of section.querySelectorAll("[data-target]")) marked.removeAttribute("data-target");
    if (row?.dataset.folder !== undefined) row.setAttribute("data-target", "");
  };
  const handlers = {
    onDragStart: (event: DragEvent) => {
      const path = (event.target as Element).closest<HTMLElement>("[data-path]")?.dataset.path;
      const item = items?.find((item) => item.path === path);
      if (!item || !event.dataTransfer) return;
      event.dataTransfer.effectAllowed = "copyMove";
      event.dataTransfer.setData("application/x-deepnb", "file"); // what it is stays in this page
      onDrag(item);
    },
    onDragEnd: () => onDrag(null),
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      event.stopPropagation(); // a notebook would take files that are dropped for its own
      mark(event.currentTarget as Element, folderAt(event.target).row);
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      const section = event.currentTarget as Element;
      if (section.contains(event.relatedTarget as Node | null)) return;
      mark(section, null);
      setOver(false);
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      event.stopPropagation();
      mark(event.currentTarget as Element, null);
      setOver(false);
      if (event.dataTransfer) onDrop(folderAt(event.target).folder, event.dataTransfer);
    },
  };
  return { isOver, handlers };
}
