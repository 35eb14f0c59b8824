/** What can be done with the thread as a whole. */

import type { ComponentChildren } from "preact";

import { useApp, useStore } from "../app";
import { copyText } from "../parts/clipboard";
import { Icon, type IconName } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { useTask } from "../parts/useTask";
import type { Exported } from "../protocol";

export function MoreMenu() {
  const { client, ui } = useApp();
  const facts = useStore((store) => store.facts);
  const task = useTask();

  const copy = async (text: string, what: string) => {
    if (!(await copyText(text))) throw new Error("The browser did not let the panel copy.");
    ui.set({ announcement: `${what} copied.` });
  };
  const exported = (format: "md" | "html") => client.request("export", { format });
  return (
    <Popover
      class="dn-btn dn-btn-bare dn-btn-icon"
      label="More"
      title="More"
      kind="menu"
      align="end"
      button={<Icon name="more" />}
    >
      {(close) => {
        const item = (icon: IconName, text: string, work: () => Promise<unknown>) => (
          <MenuItem
            icon={icon}
            disabled={task.busy || !facts}
            onPick={() => task.run(async () => (await work(), close()))}
          >
            {text}
          </MenuItem>
        );
        return (
          <div class="dn-menu">
            {item("plus", "New thread", () => client.request("new_thread", {}))}
            {facts?.opening &&
              item("copy", "Copy Python for this thread", () =>
                copy(facts.opening, "Python for this thread"),
              )}
            {item("text", "Copy transcript as Markdown", async () =>
              copy((await exported("md")).text, "Transcript"),
            )}
            {item("download", "Download Markdown", async () =>
              download(await exported("md"), "text/markdown"),
            )}
            {item("download", "Download HTML", async () =>
              download(await exported("html"), "text/html"),
            )}
            {task.error && (
              <p class="dn-menu-error dn-bad" role="alert">
                {task.error}
              </p>
            )}
          </div>
        );
      }}
    </Popover>
  );
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

function download({ name, text }: Exported, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TO_BE_READ);
}
