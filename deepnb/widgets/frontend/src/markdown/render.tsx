/** Markdown to nodes of which nothing can be feared: the only place where text becomes HTML. */

import DOMPurify, { type Config } from "dompurify";
import { render as draw } from "preact";

import { CopyButton } from "../parts/CopyButton";
import { tokens as thousands } from "../parts/format";
import { legible } from "../parts/legible";
import { placeChips, type MakeChip } from "./marks";
import { hasMask, unmasked } from "./mask";
import { escaped, toHtml } from "./parser";

const TEXT = "p br strong em del b i u s mark sub sup kbd code pre blockquote ul ol li hr a img h1 h2 h3 h4 h5 h6 table thead tbody tr th td";
const MATH = "math mrow mi mn mo mtext mspace ms msup msub msubsup mfrac msqrt mroot mstyle mtable mtr mtd mover munder munderover mpadded mphantom menclose merror";
const ATTRIBUTES = "href src alt align start display mathvariant stretchy fence separator lspace rspace minsize maxsize symmetric largeop movablelimits accent accentunder linethickness width height depth data-rows columnalign rowspacing columnspacing columnlines rowlines notation scriptlevel displaystyle form";

const WALL: Config = {
  ALLOWED_TAGS: [...TEXT.split(" "), ...MATH.split(" ")],
  ALLOWED_ATTR: ATTRIBUTES.split(" "),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Of all values: no scheme but these. Links and images are judged again below.
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|data):|[^a-z]|[a-z+.-]+(?:[^a-z+.:-]|$))/i,
  RETURN_DOM_FRAGMENT: true,
};

/** An instance of its own: another widget of the page may add hooks to the one they share. */
const purify = DOMPurify(window);
purify.setConfig(WALL); // once: it takes longer to read than most texts to check

export interface Rendering {
  /** Whether the reader wants to see what is loaded from elsewhere. */
  images: boolean;
  /** Whether nothing more comes, so that it gets its buttons. */
  whole: boolean;
  /** Of a report, whose marks are masked. */
  makeChip?: MakeChip | undefined;
}

export function render(markdown: string, rendering: Rendering): DocumentFragment {
  const made = nodes(legible(markdown), rendering, false);
  for (const block of made.children) (block as HTMLElement).dir = "auto"; // each may be in another script
  return made;
}

function nodes(text: string, rendering: Rendering, allRows: boolean): DocumentFragment {
  const made = purify.sanitize(html(text, allRows)) as unknown as DocumentFragment; // as the wall says
  made.querySelectorAll("[href]:not(a)").forEach((formula) => formula.removeAttribute("href")); // a link to some browsers
  made.querySelectorAll("a").forEach(finishLink);
  made.querySelectorAll("img").forEach((image) => finishImage(image, rendering.images));
  made.querySelectorAll("[align]").forEach(finishCell);
  made.querySelectorAll("h1, h2, h3, h4, h5, h6").forEach(finishHeading);
  made.querySelectorAll("table").forEach((table, place) => {
    const wholeTable = () => nodes(text, rendering, true).querySelectorAll("table")[place];
    finishTable(table, wholeTable);
  });
  made.querySelectorAll("pre").forEach((code) => finishCode(code, rendering.whole));
  if (rendering.makeChip) placeChips(made, rendering.makeChip);
  made.querySelectorAll('math[display="block"]').forEach((math) => math.parentElement?.classList.add("dn-math"));
  return made;
}

function html(text: string, allRows: boolean): string {
  try {
    const made = toHtml(text, allRows);
    return hasMask(made) ? made.replace(/<[^>]*>/g, unmasked) : made; // none in an address, or an image's name
  } catch {
    return `<pre>${escaped(text)}</pre>`; // nested to do harm
  }
}

function finishLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute("href") ?? "";
  if (!/^(?:https?|mailto):/i.test(href)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.title = legible(href);
}

function finishImage(image: HTMLImageElement, isWanted: boolean): void {
  const source = image.getAttribute("src") ?? "";
  const isOwn = /^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(source);
  if (isOwn || (isWanted && /^https?:/i.test(source))) {
    image.referrerPolicy = "no-referrer";
    image.loading = "lazy";
    return;
  }
  const host = /^https?:/i.test(source) && URL.canParse(source) ? new URL(source).host : "";
  const named = image.alt ? `: ${image.alt}` : "";
  if (!host) {
    image.replaceWith(`[image${named}]`);
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "dn-btn dn-btn-sm dn-load";
  button.dataset.load = "";
  button.textContent = `Image from ${legible(host)} (load)${named}`;
  image.replaceWith(button);
}

function finishCell(cell: Element): void {
  if (cell.getAttribute("align") === "right") cell.className = "r";
  cell.removeAttribute("align");
}

/** The panel has headings of its own: those of a text begin below them. */
function finishHeading(heading: Element): void {
  const level = Math.min(4, Math.max(2, Number(heading.tagName[1])));
  const made = document.createElement(`h${level}`);
  made.append(...heading.childNodes);
  heading.replaceWith(made);
}

function finishTable(table: HTMLTableElement, wholeTable: () => HTMLTableElement | undefined): void {
  const box = document.createElement("div");
  box.className = "dn-scroll";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Table");
  table.replaceWith(box);
  box.append(table);
  const rows = Number(table.getAttribute("data-rows"));
  if (!rows) return;
  table.removeAttribute("data-rows");
  const more = document.createElement("button");
  more.type = "button";
  more.className = "dn-btn dn-btn-sm";
  more.textContent = `Show all ${thousands(rows)} rows`;
  more.addEventListener("click", () => {
    table.replaceChildren(...(wholeTable()?.childNodes ?? []));
    more.remove();
  });
  box.append(more);
}

function finishCode(code: HTMLPreElement, isWhole: boolean): void {
  const text = code.textContent ?? "";
  const box = document.createElement("div");
  box.className = "dn-code";
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.textContent = text.replace(/\n$/, "");
  pre.dir = "ltr";
  box.append(pre);
  code.replaceWith(box);
  if (!isWhole) return;
  const corner = document.createElement("span");
  draw(<CopyButton class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" label="Copy code" text={() => pre.textContent ?? ""} />, corner);
  box.append(corner);
}
