/** What can be done with a file, and how new ones come. */

import { Icon, type IconName } from "../../parts/Icon";
import { Popover } from "../../parts/Popover";
import { bytes } from "./kinds";
import type { Link, Side } from "./links";
import type { Item } from "./nodes";

interface EntryProps {
  icon: IconName;
  text: string;
  /** What it gives away. */
  note?: string;
  onPick: () => void;
}

function MenuItem({ icon, text, note, onPick }: EntryProps) {
  return (
    <button type="button" role="menuitem" class="dn-menu-item" tabIndex={-1} onClick={onPick}>
      <Icon name={icon} />
      <span>{text}{note && <small>{note}</small>}</span>
    </button>
  );
}

/** All that a row's menu may lead to. */
export type Command =
  | "open" | "map" | "unmap" | "sync" | "index" | "rename" | "move" | "delete" | "save" | "earlier" | "take" | "folder" | "allow" | "close";

interface RowMenuProps {
  item: Item;
  side: Side;
  link: Link | undefined;
  canIndex: boolean;
  /** Bytes that would leave for the index. */
  size: number;
  onPick: (command: Command) => void;
}

export function RowMenu({ item, side, link, canIndex, size, onPick }: RowMenuProps) {
  const entry = (command: Command, icon: IconName, text: string, note?: string) => (
    <MenuItem icon={icon} text={text} {...(note ? { note } : {})} onPick={() => onPick(command)} />
  );
  const isThere = item.real === undefined || item.real === "open";
  const isMine = side === "mine";
  return (
    <div class="dn-menu">
      {!item.isDir && entry("open", "text", "Open")}
      {item.real === "ask" && entry("allow", "folder", "Open again")}
      {isThere && item.isDir && entry("folder", "plus", "New folder in it…")}
      {isThere && isMine && !link?.mapping && entry("map", "right", "Map to the workspace…")}
      {link?.mapping && entry("sync", "retry", "Compare both sides now")}
      {link?.mapping && entry("unmap", "x", "Unmap", "Both sides keep their files.")}
      {isThere && isMine && canIndex && entry("index", "search", "Add to the agent’s index…", `Its text leaves this browser: ${bytes(size)}`)}
      {!isMine && entry("take", "download", "Copy to My computer")}
      {isMine && !item.isDir && entry("save", "download", "Save as…")}
      {item.hasEarlier && entry("earlier", "retry", "Bring back the earlier version", "As it was before the workspace’s took its place.")}
      <div role="group" class="dn-menu-group">
        {item.real !== undefined ? (
          entry("close", "x", "Close this folder", "Its files stay where they are.")
        ) : (
          <>
            {entry("rename", "pencil", "Rename")}
            {entry("move", "steer", "Move to…")}
            {entry("delete", "trash", "Delete")}
          </>
        )}
      </div>
    </div>
  );
}

/** What concerns all of My computer. */
export function StoreMenu({ onForget }: { onForget: () => void }) {
  return (
    <Popover class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" title="My computer" label="More about My computer" kind="menu" align="end" button={<Icon name="more" small />}>
      {(close) => (
        <div class="dn-menu">
          <MenuItem icon="trash" text="Forget everything kept in this browser…" onPick={() => (close(), onForget())} />
        </div>
      )}
    </Popover>
  );
}

export type Way = "files" | "folder" | "real" | "new" | "note" | "page";

export function AddMenu({ onPick }: { onPick: (way: Way) => void }) {
  const canOpen = "showDirectoryPicker" in globalThis;
  const ways: readonly (readonly [Way, IconName, string, string?])[] = [
    ["files", "upload", "Files…"],
    ["folder", "folder", "Folder…", "A copy is kept in this browser."],
    ...(canOpen ? ([["real", "monitor", "Open a folder in place…", "Read afresh from your disk."]] as const) : []),
    ["new", "plus", "New folder…"],
    ["note", "pencil", "New note…"],
    ["page", "globe", "Page from an address…", "The kernel fetches it into the workspace."],
  ];
  return (
    <Popover class="dn-btn dn-btn-sm dn-btn-bare" title="Add" kind="menu" align="end" button={<><Icon name="plus" small />Add</>}>
      {(close) => (
        <div class="dn-menu">
          {ways.map(([way, icon, text, note]) => (
            <MenuItem key={way} icon={icon} text={text} {...(note ? { note } : {})} onPick={() => (close(), onPick(way))} />
          ))}
        </div>
      )}
    </Popover>
  );
}
