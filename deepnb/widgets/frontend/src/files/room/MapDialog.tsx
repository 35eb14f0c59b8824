/** Ties something of the reader's to a place in the workspace, and says first what that gives away. */

import { useState } from "preact/hooks";

import { useStore } from "../../app";
import { counted } from "../../parts/format";
import { legible } from "../../parts/legible";
import { useTask } from "../../parts/useTask";
import type { Mapping } from "../../protocol";
import { nameOf } from "../tools/paths";
import type { Files } from "../types";
import { Dialog, Problem } from "./Dialog";
import { bytes } from "./kinds";
import { filesIn, sizeOf, type Item } from "./nodes";

interface MapProps {
  files: Files;
  item: Item;
  /** All of the reader's, to count those that would leave. */
  items: readonly Item[];
  /** Where it is to go, if it was dropped somewhere. */
  target: string;
  onClose: () => void;
  onDone: (text: string) => void;
}

export function MapDialog({ files, item, items, target, onClose, onDone }: MapProps) {
  const workspace = useStore((store) => store.facts?.workspace) ?? "";
  const [place, setPlace] = useState(target.slice(1));
  const [mode, setMode] = useState<Mapping["mode"]>("copy");
  const task = useTask();
  const leaving = filesIn(items, item);
  const name = legible(nameOf(item.path));
  const to = `/${place.trim().replace(/^\/+|\/+$/g, "")}`;
  const there = files.workspace.files?.find((file) => file.path === to);
  const map = () =>
    task.run(async () => {
      await files.sync.map({ source: item.path, target: to, is_folder: item.isDir, mode });
      // What becomes of it is seen in the row, and below it as long as something is on its way.
      onDone(mode === "copy" ? `${nameOf(item.path)} is being copied to the workspace.` : `${nameOf(item.path)} is kept in step from now on.`);
      onClose();
    });
  return (
    <Dialog
      title={<>Map <bdi>{name}</bdi> to the workspace</>}
      onClose={onClose}
      onSubmit={map}
      foot={
        <>
          <button type="submit" class="dn-btn dn-btn-solid" disabled={task.busy || to === "/"}>
            {mode === "copy" ? "Copy" : "Keep in step"}
          </button>
          <button type="button" class="dn-btn" onClick={onClose}>Cancel</button>
        </>
      }
    >
      <fieldset disabled={task.busy} class="dn-map">
        <label class="dn-map-place">
          <span>Where in the workspace</span>
          <span class="dn-row dn-map-path">
            <span class="dn-mono dn-faint"><bdi>{legible(workspace)}/</bdi></span>
            <input
              class="dn-input dn-mono"
              data-first
              value={place}
              spellcheck={false}
              onInput={(event) => setPlace(event.currentTarget.value)}
            />
          </span>
        </label>
        {there && (
          <p class="dn-small dn-warn">
            {there.is_dir === item.isDir
              ? "Something is there already. Nothing is overwritten: where both differ, you are asked."
              : `A ${there.is_dir ? "folder" : "file"} is there already. Choose another place.`}
          </p>
        )}
        <Way value="copy" {...{ mode, setMode }} title="Copy once" text="What you change later stays here." />
        <Way
          value="sync"
          {...{ mode, setMode }}
          title="Keep in step both ways"
          text="Changes go both ways, also those of the agent. If both sides change, you are asked."
        />
      </fieldset>
      <p class="dn-note">{leavesOf(leaving, mode)}</p>
      <Problem task={task} />
    </Dialog>
  );
}

interface WayProps {
  value: Mapping["mode"];
  mode: Mapping["mode"];
  setMode: (mode: Mapping["mode"]) => void;
  title: string;
  text: string;
}

function Way({ value, mode, setMode, title, text }: WayProps) {
  return (
    <label class="dn-row dn-way">
      <input type="radio" class="dn-check" name="mode" checked={mode === value} onChange={() => setMode(value)} />
      <span>
        <b>{title}</b>
        <small>{text}</small>
      </span>
    </label>
  );
}

/** One plain sentence on what leaves the browser. */
export function leavesOf(leaving: readonly Item[], mode: Mapping["mode"]): string {
  const what = `${counted(leaving.length, "file")}, ${bytes(sizeOf(leaving))},`;
  if (!leaving.length) return mode === "copy" ? "It is empty: nothing leaves this browser." : "It is empty now; what you add later leaves this browser.";
  const leave = leaving.length === 1 ? "leaves" : "leave";
  return mode === "copy" ? `${what} ${leave} this browser, once.` : `${what} ${leave} this browser now, and every later change too.`;
}
