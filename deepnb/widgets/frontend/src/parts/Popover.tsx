/**
 * A button and what it opens, in the top layer, so that no output area can cut it off.
 *
 * The browser closes it on Escape or a click elsewhere and gives the focus back. What is opened
 * hangs at the end of the panel: inside a `summary`, a space typed into it would fold the row.
 */

import { createPortal, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface PopoverProps {
  /** What the opened part is called. */
  title: string;
  /** Of the button, if its content does not say it all. */
  label?: string;
  class?: string;
  button: ComponentChildren;
  /** A menu's items are walked with the arrow keys. */
  kind?: "menu" | "dialog";
  align?: "start" | "end";
  /** For what is read, rather than chosen. */
  wide?: boolean;
  disabled?: boolean;
  children: (close: () => void) => ComponentChildren;
}

export function Popover(props: PopoverProps) {
  const { title, label, button, kind = "dialog", align = "start", wide = false, disabled = false } = props;
  const [home, setHome] = useState<Element | null>(null);
  const anchor = useRef<HTMLButtonElement>(null);
  const close = () => {
    setHome(null);
    anchor.current?.focus();
  };
  const toggle = () => setHome(home ? null : (anchor.current?.closest(".dn") ?? null));
  return (
    <>
      <button
        type="button"
        ref={anchor}
        class={props.class ?? "dn-btn"}
        aria-haspopup={kind}
        aria-expanded={home !== null}
        aria-label={label}
        title={label}
        disabled={disabled}
        onClick={toggle}
      >
        {button}
      </button>
      {home &&
        createPortal(
          <Opened
            anchor={anchor.current!}
            {...{ title, kind, align, wide }}
            onClose={() => setHome(null)}
          >
            {props.children(close)}
          </Opened>,
          home,
        )}
    </>
  );
}

interface OpenedProps {
  anchor: HTMLButtonElement;
  title: string;
  kind: "menu" | "dialog";
  align: "start" | "end";
  wide: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

export function Opened({ anchor, title, kind, align, wide, onClose, children }: OpenedProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const popover = element.current!;
    const follow = () => place(popover, anchor, align);
    popover.showPopover?.({ source: anchor });
    // Else a second click would close and open it again; not yet, as the first is under way.
    const own = setTimeout(() => (anchor.popoverTargetElement = popover));
    follow();
    (popover.querySelector<HTMLElement>("[data-first], [role=menuitem]") ?? popover).focus();
    const observer = new ResizeObserver(follow);
    observer.observe(popover);
    addEventListener("scroll", follow, { capture: true, passive: true });
    addEventListener("resize", follow);
    return () => {
      clearTimeout(own);
      anchor.popoverTargetElement = null;
      observer.disconnect();
      removeEventListener("scroll", follow, { capture: true });
      removeEventListener("resize", follow);
    };
  }, []);
  return (
    <div
      ref={element}
      class="dn-pop"
      data-wide={wide || undefined}
      popover="auto"
      role={kind}
      aria-label={title}
      tabIndex={-1}
      onToggle={(event) => event.newState === "closed" && onClose()}
      onKeyDown={kind === "menu" ? walk : undefined}
    >
      {children}
    </div>
  );
}

const GAP = 6;

/** Puts it under its button, or above where there is more room: within the panel and the window. */
function place(popover: HTMLElement, anchor: HTMLElement, align: "start" | "end"): void {
  const at = anchor.getBoundingClientRect();
  const panel = popover.parentElement!.getBoundingClientRect();
  const [width, height] = [popover.offsetWidth, popover.offsetHeight];
  const below = at.bottom + GAP + height <= innerHeight || at.top < innerHeight - at.bottom;
  const x = between(panel.left, align === "start" ? at.left : at.right - width, panel.right - width);
  const y = below ? at.bottom + GAP : at.top - GAP - height;
  popover.style.setProperty("--x", `${between(0, x, innerWidth - width)}px`);
  popover.style.setProperty("--y", `${between(0, y, innerHeight - height)}px`);
}

function between(least: number, value: number, most: number): number {
  return Math.max(least + GAP, Math.min(value, most - GAP));
}

/** Moves along the items of a menu with the arrow keys. */
function walk(event: KeyboardEvent): void {
  const menu = event.currentTarget as HTMLElement;
  if (event.target instanceof HTMLInputElement) return;
  const items = [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]:not([disabled])")];
  const current = items.indexOf((event.target as HTMLElement).closest("[role^=menuitem]")!);
  const next = step(event.key, current, items.length);
  if (next === null) return;
  event.preventDefault();
  items[next]?.focus();
}

/** Where an arrow key, Home or End leads in a row of things; null for every other key. */
export function step(key: string, current: number, count: number): number | null {
  switch (key) {
    case "ArrowDown":
    case "ArrowRight":
      return (current + 1) % count;
    case "ArrowUp":
    case "ArrowLeft":
      return (Math.max(current, 0) - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
