/** Smaller questions about files: a name, a place, a page to fetch, a note to keep. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { counted } from "../../parts/format";
import { legible } from "../../parts/legible";
import { useTask } from "../../parts/useTask";
import { under } from "../places";
import { nameOf, parentOf } from "../tools/paths";
import { Dialog, Problem } from "./Dialog";
import { bytes } from "./kinds";
import { sizeOf, type Item } from "./nodes";

interface FormProps {
  title: ComponentChildren;
  /** On the solid button. */
  verb: string;
  ready: boolean;
  work: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}

/** Closes when the work is done; else it says why not, and keeps what was typed. */
function Form({ title, verb, ready, work, onClose, children }: FormProps) {
  const task = useTask();
  const submit = () => ready && task.run(async () => (await work(), onClose()));
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={submit}
      foot={
        <>
          <button type="submit" class="dn-btn dn-btn-solid" disabled={!ready || task.busy}>{verb}</button>
          <button type="button" class="dn-btn" onClick={onClose}>Cancel</button>
        </>
      }
    >
      {children}
      <Problem task={task} />
    </Dialog>
  );
}

interface NoteProps {
  text: string;
  name: string;
  onSave: (name: string, text: string) => Promise<unknown>;
  onClose: () => void;
}

export function NoteDialog(props: NoteProps) {
  const [name, setName] = useState(props.name);
  const [text, setText] = useState(props.text);
  return (
    <Form title="New note" verb="Keep" ready={isName(name)} work={() => props.onSave(name.trim(), text)} onClose={props.onClose}>
      <label class="dn-field">
        <span>Name</span>
        <input class="dn-input" data-first value={name} maxLength={255} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="dn-field">
        <span>Text</span>
        <textarea class="dn-input dn-note-area" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <p class="dn-small dn-muted">It is kept in this browser.</p>
    </Form>
  );
}

export function FolderDialog({ onMake, onClose }: { onMake: (name: string) => Promise<unknown>; onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <Form title="New folder" verb="Make" ready={isName(name)} work={() => onMake(name.trim())} onClose={onClose}>
      <label class="dn-field">
        <span>Name</span>
        <input class="dn-input" data-first value={name} maxLength={255} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
    </Form>
  );
}

export function isName(name: string): boolean {
  const clean = name.trim();
  return clean !== "" && clean !== "." && clean !== ".." && !clean.includes("/");
}

interface PageProps {
  url: string;
  onFetch: (url: string) => Promise<unknown>;
  onClose: () => void;
}

export function PageDialog({ url: given, onFetch, onClose }: PageProps) {
  const [url, setUrl] = useState(given);
  return (
    <Form title="Add a page" verb="Fetch" ready={isAddress(url)} work={() => onFetch(url.trim())} onClose={onClose}>
      <label class="dn-field">
        <span>Address</span>
        <input
          class="dn-input dn-mono"
          data-first
          type="url"
          placeholder="https://"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </label>
      <p class="dn-note">The kernel fetches it, from where it runs, and saves it in the workspace. The address leaves this browser.</p>
    </Form>
  );
}

export function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text.trim()) && URL.canParse(text.trim());
}

interface MoveProps {
  item: Item;
  items: readonly Item[];
  onMove: (to: string) => Promise<unknown>;
  onClose: () => void;
}

export function MoveDialog({ item, items, onMove, onClose }: MoveProps) {
  const folders = ["/", ...items.filter(({ isDir, path }) => isDir && path !== item.path && !path.startsWith(`${item.path}/`)).map(({ path }) => path)];
  const [folder, setFolder] = useState(parentOf(item.path));
  const name = nameOf(item.path);
  return (
    <Form
      title={<>Move <bdi>{legible(name)}</bdi></>}
      verb="Move"
      ready={folder !== parentOf(item.path)}
      work={() => onMove(under(folder, name))}
      onClose={onClose}
    >
      <label class="dn-field">
        <span>Into</span>
        <select class="dn-input" data-first value={folder} onChange={(event) => setFolder(event.currentTarget.value)}>
          {folders.map((path) => <option key={path} value={path}>{path === "/" ? "The top" : legible(path.slice(1))}</option>)}
        </select>
      </label>
    </Form>
  );
}

interface TakenProps {
  taken: readonly string[];
  all: number;
  onAdd: (replace: boolean) => void;
  onClose: () => void;
}

/** Asked when something new has the name of something that is there. */
export function TakenDialog({ taken, all, onAdd, onClose }: TakenProps) {
  const add = (replace: boolean) => {
    onClose();
    onAdd(replace);
  };
  const [first] = taken;
  return (
    <Dialog
      title={taken.length === 1 ? <><bdi>{legible(nameOf(first!))}</bdi> is there already</> : `${counted(taken.length, "name")} of ${all} are there already`}
      onClose={onClose}
      onSubmit={() => add(false)}
      foot={
        <>
          <button type="submit" class="dn-btn dn-btn-solid" data-first>Keep both</button>
          <button type="button" class="dn-btn" onClick={() => add(true)}>Replace</button>
          <button type="button" class="dn-btn dn-btn-bare" onClick={onClose}>Cancel</button>
        </>
      }
    >
      <ul class="dn-small dn-mono dn-names">
        {taken.slice(0, 6).map((path) => <li key={path} class="dn-cut"><bdi>{legible(path.slice(1))}</bdi></li>)}
        {taken.length > 6 && <li>and {taken.length - 6} more</li>}
      </ul>
      <p class="dn-small dn-muted">Keep both gives the new one a number. Replace can be undone for a while.</p>
    </Dialog>
  );
}

interface ForgetProps {
  /** All that is kept here, and not on a disk. */
  kept: readonly Item[];
  mapped: number;
  onForget: () => Promise<unknown>;
  onClose: () => void;
}

export function ForgetDialog({ kept, mapped, onForget, onClose }: ForgetProps) {
  return (
    <Form title="Forget everything kept in this browser?" verb="Forget" ready work={onForget} onClose={onClose}>
      <ul class="dn-forget">
        <li>{kept.length ? `${counted(kept.length, "file")}, ${bytes(sizeOf(kept))}, of this workspace ${kept.length === 1 ? "goes" : "go"}` : "What this browser keeps for this workspace goes"}, also what could still be undone. There is no way back.</li>
        <li>Folders that were opened in place are closed. Their files stay on your disk.</li>
        {mapped > 0 && <li>{mapped === 1 ? "The mapping ends" : `${mapped} mappings end`}: nothing is kept in step any more.</li>}
        <li>What is in the workspace stays, and so does what the agent has read.</li>
      </ul>
    </Form>
  );
}

interface IndexProps {
  item: Item;
  leaving: readonly Item[];
  onIndex: () => void;
  onClose: () => void;
}

export function IndexDialog({ item, leaving, onIndex, onClose }: IndexProps) {
  const work = async () => onIndex();
  return (
    <Form title={<>Add <bdi>{legible(nameOf(item.path))}</bdi> to the agent’s index</>} verb="Add to the index" ready={leaving.length > 0} work={work} onClose={onClose}>
      <p>The agent can then search it by meaning, also when no browser is open.</p>
      <p class="dn-note" tabIndex={-1} data-first>
        {leaving.length === 1 ? "Its text leaves" : `The text of ${counted(leaving.length, "file")} leaves`} this browser: {bytes(sizeOf(leaving))}.
      </p>
    </Form>
  );
}
