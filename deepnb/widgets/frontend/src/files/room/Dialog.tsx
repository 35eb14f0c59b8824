/** A question in front of everything else. Escape closes it and decides nothing. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon } from "../../parts/Icon";
import type { Task } from "../../parts/useTask";
import { useUnique } from "../../parts/unique";

interface DialogProps {
  title: ComponentChildren;
  wide?: boolean;
  onClose: () => void;
  /** Enter in a field presses the solid button. */
  onSubmit?: () => void;
  children: ComponentChildren;
  foot?: ComponentChildren;
}

export function Dialog({ title, wide = false, onClose, onSubmit, children, foot }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useUnique();
  useLayoutEffect(() => {
    const dialog = element.current!;
    const before = (dialog.getRootNode() as Document | ShadowRoot).activeElement;
    const home = before?.closest("[data-home]");
    dialog.showModal();
    const first = dialog.querySelector<HTMLElement>("[data-first]") ?? dialog;
    first.focus();
    if (first instanceof HTMLInputElement) first.select();
    return () => {
      dialog.close();
      // A row may have gone by what was answered.
      const next = before?.isConnected ? before : home?.querySelector("[role=treeitem][tabindex='0']");
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="dn-pop dn-dialog"
      data-wide={wide || undefined}
      aria-labelledby={id}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // What happens in front of the files is not meant for them.
      onKeyDown={(event) => event.stopPropagation()}
      onPaste={(event) => event.stopPropagation()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <div class="dn-dialog-head">
          <h3 id={id} class="dn-grow">{title}</h3>
          <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Close" onClick={onClose}>
            <Icon name="x" small />
          </button>
        </div>
        <div class="dn-dialog-body">{children}</div>
        {foot && <div class="dn-dialog-foot">{foot}</div>}
      </form>
    </dialog>
  );
}

export function Problem({ task }: { task: Task }) {
  if (!task.error) return null;
  return (
    <p class="dn-note" data-tone="bad" role="alert">
      <Icon name="warn" />
      <span>{task.error}</span>
    </p>
  );
}
