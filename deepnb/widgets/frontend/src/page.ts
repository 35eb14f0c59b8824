/** What a panel changes in the page around it: its styles, and whether its static twin is seen. */

import { STYLES } from "./styles";

/** Puts the styles where they reach `el`: once into the document, and into a shadow root it is in. */
export function installStyles(el: HTMLElement): void {
  addStyle(document.head, STYLES);
  requestAnimationFrame(() => {
    const root = el.getRootNode();
    if (root instanceof ShadowRoot) addStyle(root, STYLES);
  });
}

function addStyle(parent: ParentNode & Node, text: string): void {
  const version = fingerprint(text);
  if (parent.querySelector(`style[data-deepnb="${version}"]`)) return;
  const style = document.createElement("style");
  style.dataset.deepnb = version;
  style.textContent = text;
  parent.append(style);
}

function fingerprint(text: string): string {
  let hash = 5381;
  for (let at = 0; at < text.length; at++) hash = ((hash * 33) ^ text.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}

const KEYS = "data-lm-suppress-shortcuts";

/** Keeps keys from the notebook, which would take them for its own commands; to save is meant for it all the same. */
export function keepKeys(root: HTMLElement): void {
  root.setAttribute(KEYS, "true");
  for (const kind of ["keydown", "keypress", "keyup"] as const)
    root.addEventListener(kind, (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return event.stopPropagation();
      root.removeAttribute(KEYS);
      setTimeout(() => root.setAttribute(KEYS, "true"));
    });
}

/** Hides the transcript that was saved beside a panel, as long as the panel shows it itself. */
export function hideTwin(panel: string): () => void {
  if (!panel) return () => {};
  const style = document.createElement("style");
  style.textContent = `[data-deepnb-static="${CSS.escape(panel)}"], .deepnb-static-${CSS.escape(panel)} { display: none !important; }`;
  document.head.append(style);
  return () => style.remove();
}
