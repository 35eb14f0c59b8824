/**
 * Keeps the focus in the panel when what has it goes away or is switched off.
 *
 * Else it would fall to the page, where a notebook takes the next keys for its own. What is around
 * has it meanwhile, so that the Tab key goes on from there; what is switched on again gets it back.
 */
export function keepFocus(root: HTMLElement): () => void {
  let had: HTMLElement | null = null;
  let around: HTMLElement[] = []; // of what had it, from the inside out
  let stand: HTMLElement | null = null; // what has it in its place
  const active = () => (root.getRootNode() as Document | ShadowRoot).activeElement;
  const isThere = (element: Element) =>
    root.contains(element) && !element.matches(":disabled") && !element.closest("[hidden]");

  const onFocus = ({ target }: FocusEvent) => {
    if (target === stand) return;
    had = target as HTMLElement;
    stand = null;
    around = [];
    for (let at = had.parentElement; at && root.contains(at); at = at.parentElement) around.push(at);
  };
  // What is taken away is gone when this is looked at; what a person has left is still there.
  const onBlur = ({ target }: FocusEvent) =>
    queueMicrotask(() => {
      if (isThere(target as Element) && !root.contains(active())) had = null;
    });
  const look = () => {
    const now = active();
    if (!had || (now && now !== had && now !== stand && now !== document.body)) return;
    if (isThere(had)) {
      if (now !== had) had.focus({ preventScroll: true });
      return;
    }
    const next = around.find(isThere) ?? root;
    if (now === next) return;
    stand = next;
    if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
    next.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(look);
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ["disabled", "hidden"] });
  root.addEventListener("focusin", onFocus);
  root.addEventListener("focusout", onBlur);
  return () => {
    observer.disconnect();
    root.removeEventListener("focusin", onFocus);
    root.removeEventListener("focusout", onBlur);
  };
}
