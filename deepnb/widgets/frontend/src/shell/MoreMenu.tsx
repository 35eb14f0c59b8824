/** What can be done with the thread as a whole. */

import type { ComponentChildren } from "preact";

import { useApp, useStore } from "../app";
import type { Turn } from "../model";
import { copyText } from "../parts/clipboard";
import { Icon, type IconName } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";
import { Popover } from "../parts/Popover";
import { useTask } from "../parts/useTask";
import type { Exported } from "../protocol";
import type { Store } from "../store";
import { reportsIn } from "../store/research";

export function MoreMenu() {
  return (
    <Popover
      class="dn-btn dn-btn-bare dn-btn-icon"
      label="More"
      title="More"
      kind="menu"
      align="end"
      button={<Icon name="more" />}
    >
      {(close) => <Menu onDone={close} />}
    </Popover>
  );
}

const REPORTS = [
  ["md", "Markdown"],
  ["html", "HTML"],
  ["docx", "Word"],
  ["ipynb", "notebook"],
  ["bib", "BibTeX"],
] as const;

function Menu({ onDone }: { onDone: () => void }) {
  const { client, ui } = useApp();
  const facts = useStore((store) => store.facts);
  const reported = useStore(lastReported);
  const task = useTask();

  const copy = async (text: string, what: string) => {
    if (!(await copyText(text))) throw new Error("The browser did not let the panel copy.");
    ui.set({ announcement: `${what} copied.` });
  };
  const exported = (format: "md" | "html") => client.request("export", { format });
  const item = (icon: IconName, text: string, work: () => Promise<unknown>) => (
    <MenuItem
      icon={icon}
      disabled={task.busy || !facts}
      onPick={() => task.run(async () => (await work(), onDone()))}
    >
      {text}
    </MenuItem>
  );
  return (
    <div class="dn-menu">
      {item("plus", "New thread", () => client.request("new_thread", {}))}
      {facts?.opening &&
        item("copy", "Copy Python for this thread", () => copy(facts.opening, "Python for this thread"))}
      {reported && (
        <div role="group" class="dn-menu-group" aria-label="Report">
          <p class="dn-menu-head dn-cut" title={legible(reported.question)}>
            Report: {oneLine(reported.question)}
          </p>
          {REPORTS.map(([format, name]) =>
            item("download", `Download report as ${name}`, async () => {
              const { name, content } = await client.request("export_report", { run: reported.run, format });
              download(name, bytesOf(content));
            }),
          )}
        </div>
      )}
      <div role="group" class="dn-menu-group" aria-label="Transcript">
        <p class="dn-menu-head">Transcript: all that was said and done</p>
        {item("text", "Copy transcript as Markdown", async () => copy((await exported("md")).text, "Transcript"))}
        {item("download", "Download transcript as Markdown", async () => downloadText(await exported("md")))}
        {item("download", "Download transcript as HTML", async () => downloadText(await exported("html")))}
      </div>
      {task.error && (
        <p class="dn-menu-error dn-bad" role="alert">
          {task.error}
        </p>
      )}
    </div>
  );
}

/** The last question that has a report. */
function lastReported({ turns }: Store): Turn | undefined {
  return turns.findLast((turn) => reportsIn([turn]).length > 0);
}

interface MenuItemProps {
  icon: IconName;
  disabled?: boolean;
  onPick: () => void;
  children: ComponentChildren;
}

export function MenuItem({ icon, disabled = false, onPick, children }: MenuItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      class="dn-menu-item"
      tabIndex={-1}
      aria-disabled={disabled}
      onClick={() => !disabled && onPick()}
    >
      <Icon name={icon} />
      {children}
    </button>
  );
}

/** Milliseconds in which a browser has surely begun to read a file: some do so only after the click. */
const TO_BE_READ = 10_000;

function download(name: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content]));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TO_BE_READ);
}

function downloadText({ name, text }: Exported): void {
  download(name, text);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
}
