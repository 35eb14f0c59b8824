/** Light or dark, where the host has no colours that styles can take. */

/** Keeps `data-theme` of a root true to what is behind it; gives a function that ends this. */
export function followTheme(root: HTMLElement): () => void {
  const look = () => {
    const theme = themed(root) ? null : isDark(root) ? "dark" : "light";
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(look);
  const attributes = { attributes: true, attributeFilter: ["class", "style", "theme", "data-theme"] };
  observer.observe(document.documentElement, attributes);
  if (document.body) observer.observe(document.body, attributes);
  preference.addEventListener("change", look);
  look();
  requestAnimationFrame(look); // a host may attach the root only now
  return () => {
    observer.disconnect();
    preference.removeEventListener("change", look);
  };
}

/** Whether the host has colours of its own: JupyterLab, Notebook, VS Code. */
function themed(root: Element): boolean {
  const style = getComputedStyle(root.isConnected ? root : document.documentElement);
  const has = (name: string) => style.getPropertyValue(name).trim() !== "";
  return has("--jp-layout-color0") || has("--vscode-editor-background");
}

function isDark(root: Element): boolean {
  // From the parent on: the root's own background follows from the answer.
  for (let at = root.parentElement; at; at = at.parentElement) {
    const light = lightness(getComputedStyle(at).backgroundColor);
    if (light !== null) return light < 0.5;
  }
  const named = document.documentElement.getAttribute("theme"); // so does Colab
  return named ? named === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Of a computed colour, from 0 to 1; null if one sees through it. */
function lightness(colour: string): number | null {
  const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (red === undefined || green === undefined || blue === undefined || alpha < 0.5) return null;
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}
