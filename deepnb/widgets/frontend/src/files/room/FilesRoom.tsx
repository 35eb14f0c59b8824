/** The file explorer: two homes that are never merged, and what goes on between them. */

import { createPortal } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

import { useObserved, useStore } from "../../app";
import { counted } from "../../parts/format";
import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { Opened } from "../../parts/Popover";
import styles from "../files.css";
import type { Files, Serving, Sync } from "../types";
import { Asking } from "./Asking";
import { Conflicts, ConflictsLine } from "./Conflicts";
import { DropZone } from "./DropZone";
import { useChanges, useMine, useStand, useTheirs } from "./hooks";
import { linksOf, type Links, type Side as Home } from "./links";
import { AddMenu, RowMenu, StoreMenu } from "./menus";
import { filesIn, sizeOf, type Item } from "./nodes";
import { NoteList, useNotes } from "./notes";
import { Preview } from "./Preview";
import { PrivacyLine } from "./Privacy";
import { Side } from "./Side";
import { TransferList } from "./TransferList";
import { useDoings, type Asked, type Looked } from "./useDoings";

interface Menu {
  readonly home: Home;
  readonly item: Item;
  readonly anchor: HTMLButtonElement;
}

export function FilesRoom({ files }: { files: Files }) {
  const { shelf, workspace, sync, transfers, serving } = files;
  const facts = useStore((store) => store.facts);
  const mine = useMine(shelf);
  const { items: theirs, left: theirLeft } = useTheirs(files);
  const synced = useChanges(sync);
  const [mineStand, setMineStand] = useStand(files, "mine", mine.items);
  const [theirStand, setTheirStand] = useStand(files, "workspace", theirs);
  const notes = useNotes(files);
  const [asked, ask] = useState<Asked | null>(null);
  const [looked, look] = useState<Looked | null>(null);
  const [menu, setMenu] = useState<Menu | null>(null);
  const [renaming, setRenaming] = useState<{ home: Home; path: string } | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const [ourLinks, theirLinks] = useMemo(
    () => [linksOf(sync, shelf.browser, "mine"), linksOf(sync, shelf.browser, "workspace")],
    [sync, shelf, synced],
  );
  const items = (home: Home) => (home === "mine" ? mine.items : theirs) ?? [];
  const doings = useDoings({
    files,
    notes,
    items,
    paths: mine.paths,
    ask,
    look,
    setMenu,
    setRenaming,
    select: (home, path) => (home === "mine" ? setMineStand : setTheirStand)({ current: path }),
    pick: (kind) => root.current!.querySelector<HTMLInputElement>(`[data-pick=${kind}]`)!.click(),
  });
  const renamingIn = (home: Home) => (renaming?.home === home ? renaming.path : null);
  const links: Record<Home, Links> = { mine: ourLinks, workspace: theirLinks };
  const byPath = useMemo(() => [pathsOf(mine.items), pathsOf(theirs)] as const, [mine.items, theirs]);
  const closeLook = () => {
    const row = looked && root.current!.querySelector<HTMLElement>(`[data-home=${looked.home}] [role=treeitem][tabindex="0"]`);
    look(null);
    row?.focus({ preventScroll: true });
  };
  /** What is looked at gives way to what is to be decided. */
  const decide = () => {
    look(null);
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>(".dn-clash button")?.focus());
  };
  const seen = looked && byPath[looked.home === "mine" ? 0 : 1].get(looked.path);
  return (
    <div
      ref={root}
      class="dn-pane dn-pane-flush dn-files"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !looked || event.defaultPrevented) return;
        event.preventDefault();
        closeLook();
      }}
    >
      <style>{styles}</style>
      <div class="dn-files-stage">
        <div class="dn-files-main">
          <Troubles texts={[shelf.trouble, mine.problem]} onAgain={mine.again} />
          <Waiting serving={serving} onAllow={doings.allowNamed} />
          <Failed sync={sync} />
          <div class="dn-trees">
            <Side
              home="mine"
              title="My computer"
              icon="monitor"
              where={<span class="dn-small dn-faint">this browser</span>}
              items={mine.items}
              links={ourLinks}
              stand={mineStand}
              onStand={setMineStand}
              renaming={renamingIn("mine")}
              doings={doings.rows.mine}
              actions={
                <>
                  <StoreMenu onForget={() => ask({ kind: "forget" })} />
                  <AddMenu onPick={doings.add} />
                </>
              }
              empty="What you add is kept in this browser. Only what you send, or what the agent asks for, leaves it."
              onDrag={(item) => doings.drag("mine", item)}
              onDrop={(folder, data) => doings.drop("mine", folder, data)}
              onPaste={doings.paste}
            >
              {facts?.files?.agent_reads === false && (
                <p class="dn-small dn-faint dn-side-line">This agent reads only what is mapped to the workspace.</p>
              )}
              <LeftOut count={mine.left} />
              <DropZone onFiles={doings.addPicked} />
            </Side>
            <Side
              home="workspace"
              title="Workspace"
              icon="server"
              where={<span class="dn-mono dn-faint dn-cut"><bdi>{legible(facts?.workspace ?? "")}/</bdi></span>}
              items={theirs}
              links={theirLinks}
              stand={theirStand}
              onStand={setTheirStand}
              renaming={renamingIn("workspace")}
              doings={doings.rows.workspace}
              actions={
                <>
                  <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="New folder in the workspace" title="New folder" onClick={() => ask({ kind: "folder", home: "workspace", parent: "/" })}>
                    <Icon name="plus" small />
                  </button>
                  <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Refresh" title="Refresh" onClick={doings.refresh}>
                    <Icon name="retry" small />
                  </button>
                </>
              }
              empty="The workspace is empty. Map files to it, or let the agent write there."
              onDrag={(item) => doings.drag("workspace", item)}
              onDrop={(folder, data) => doings.drop("workspace", folder, data)}
            >
              {workspace.problem && <p class="dn-small dn-bad dn-side-line" role="alert">{legible(workspace.problem)}</p>}
              <LeftOut count={theirLeft} />
              {workspace.truncated && <p class="dn-small dn-warn dn-side-line">There is more in the workspace than is shown here.</p>}
            </Side>
          </div>
          <div class="dn-files-front">
            <NoteList notes={notes} />
            {!looked ? (
              <Conflicts files={files} notes={notes} conflicts={sync.conflicts} mine={byPath[0]} theirs={byPath[1]} />
            ) : (
              sync.conflicts.length > 0 && <ConflictsLine count={sync.conflicts.length} onDecide={decide} />
            )}
            <TransferList transfers={transfers} />
            {looked && (
              <Preview
                key={`${looked.home} ${looked.path}`}
                files={files}
                side={looked.home}
                path={looked.path}
                version={`${seen?.size} ${seen?.modified}`}
                takesFocus={looked.byKey}
                onSave={() => seen && doings.save(seen)}
                onClose={closeLook}
              />
            )}
          </div>
        </div>
      </div>
      <PrivacyLine />
      {menu &&
        createPortal(
          <Opened anchor={menu.anchor} title={`About ${legible(menu.item.path)}`} kind="menu" align="end" wide={false} onClose={() => setMenu(null)}>
            <RowMenu
              item={menu.item}
              side={menu.home}
              link={links[menu.home].get(menu.item.path)}
              canIndex={facts?.files?.can_index ?? false}
              size={sizeOf(filesIn(items(menu.home), menu.item))}
              onPick={(command) => {
                setMenu(null);
                menu.anchor.closest<HTMLElement>("[role=treeitem]")?.focus({ preventScroll: true });
                doings.command(menu.home, menu.item, command, links[menu.home].get(menu.item.path)?.mapping);
              }}
            />
          </Opened>,
          root.current!.closest(".dn")!,
        )}
      {asked && <Asking asked={asked} files={files} items={items} doings={doings} onClose={() => ask(null)} />}
    </div>
  );
}

function LeftOut({ count }: { count: number }) {
  if (!count) return null;
  return (
    <p class="dn-small dn-faint dn-side-line" title=".DS_Store, Thumbs.db and .ipynb_checkpoints">
      {counted(count, "system file")} {count === 1 ? "is" : "are"} not shown.
    </p>
  );
}

function Troubles({ texts, onAgain }: { texts: readonly string[]; onAgain: () => void }) {
  return (
    <>
      {texts.filter(Boolean).map((text) => (
        <div key={text} class="dn-off" role="alert">
          <Icon name="warn" />
          <span class="dn-grow">{legible(text)}</span>
          <button type="button" class="dn-btn dn-btn-sm" onClick={onAgain}>Look again</button>
        </div>
      ))}
    </>
  );
}

/** What keeps mapped files from being in step. */
function Failed({ sync }: { sync: Sync }) {
  const failed = sync.mappings.flatMap((mapping) => {
    const standing = sync.standing(mapping.id);
    return standing?.state === "failed" ? [{ ...mapping, problem: standing.problem }] : [];
  });
  return (
    <>
      {failed.map(({ id, source, problem }) => (
        <div key={id} class="dn-off" role="alert">
          <Icon name="warn" />
          <span class="dn-grow">Not all of <bdi>{legible(source.slice(1))}</bdi> could be mapped. {legible(problem)}</span>
          <button type="button" class="dn-btn dn-btn-sm" onClick={() => void sync.run(id)}>Try again</button>
        </div>
      ))}
    </>
  );
}

/** Calls of the agent's that need a folder which only a click opens again. */
function Waiting({ serving, onAllow }: { serving: Serving; onAllow: (folder: string) => void }) {
  const waiting = useObserved(serving, ({ waiting }) => waiting);
  return (
    <>
      {[...new Set(waiting.map(({ folder }) => folder))].map((folder) => (
        <div key={folder} class="dn-off" role="alert">
          <Icon name="clock" />
          <span class="dn-grow">The agent waits for the folder <bdi>{legible(folder)}</bdi>, which the browser has closed.</span>
          <button type="button" class="dn-btn dn-btn-sm" onClick={() => onAllow(folder)}>Open again</button>
        </div>
      ))}
    </>
  );
}

function pathsOf(items: readonly Item[] | null): ReadonlyMap<string, Item> {
  return new Map(items?.map((item) => [item.path, item]));
}
