/** A look at one file. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Markdown } from "../../markdown/Markdown";
import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { nameOf } from "../tools/paths";
import type { Files } from "../types";
import { bytes, endingOf } from "./kinds";
import type { Side } from "./links";
import { lookAt, type Cell, type Look, type Seen } from "./looks";
import { messageOf } from "./notes";

const NARROW = 640; // px, as in the styles

interface PreviewProps {
  files: Files;
  side: Side;
  path: string;
  /** Changes when the file does, which is then read again. */
  version: string;
  /** Who has opened it by key reads on in it. */
  takesFocus: boolean;
  onSave: () => void;
  onClose: () => void;
}

export function Preview({ files, side, path, version, takesFocus, onSave, onClose }: PreviewProps) {
  const [seen, setSeen] = useState<Seen | null>(null);
  const [problem, setProblem] = useState("");
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    let wanted = true;
    lookAt(files, side, path).then(
      (seen) => wanted && (setSeen(seen), setProblem("")),
      (error) => wanted && setProblem(messageOf(error)),
    );
    return () => void (wanted = false);
  }, [files, side, path, version]);
  useEffect(() => {
    const pane = element.current!.closest(".dn-pane");
    const covers = pane !== null && pane.clientWidth > 0 && pane.clientWidth <= NARROW; // the trees
    if (takesFocus || covers) element.current!.focus({ preventScroll: true });
    reveal(element.current!);
  }, [path, takesFocus]);
  const name = legible(nameOf(path));
  return (
    <section ref={element} class="dn-look" aria-label={`Preview of ${name}`} tabIndex={-1}>
      <div class="dn-panel-head">
        <Icon name={side === "mine" ? "monitor" : "server"} small />
        <b class="dn-cut"><bdi>{name}</bdi></b>
        <span class="dn-faint">{seen && bytes(seen.size)}</span>
        <span class="dn-push" />
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Close the preview" title="Close (Escape)" onClick={onClose}>
          <Icon name="x" small />
        </button>
      </div>
      <div class="dn-look-body" tabIndex={0} role="region" aria-label={`Content of ${name}`}>
        {problem ? (
          <p class="dn-note" data-tone="bad" role="alert"><Icon name="warn" /><span>{legible(problem)}</span></p>
        ) : seen ? (
          <Shown look={seen.look} path={path} size={seen.size} onSave={onSave} canSave={side === "mine"} />
        ) : (
          <p class="dn-pane-empty">Reading…</p>
        )}
      </div>
    </section>
  );
}

/** Lines above it may have left it no room. Only the room is scrolled: a browser would move the notebook too. */
function reveal(element: HTMLElement): void {
  const room = element.closest(".dn-files-main")!;
  room.scrollTop += Math.max(0, element.getBoundingClientRect().bottom - room.getBoundingClientRect().bottom);
}

interface ShownProps {
  look: Look;
  path: string;
  size: number;
  canSave: boolean;
  onSave: () => void;
}

function Shown({ look, path, size, canSave, onSave }: ShownProps) {
  if (!size) return <p class="dn-pane-empty">The file is empty.</p>;
  switch (look.kind) {
    case "text":
      return <><pre class="dn-look-text" dir="auto">{legible(look.text)}</pre><Cut cut={look.cut} /></>;
    case "markdown":
      return <><Prose text={look.text} /><Cut cut={look.cut} /></>;
    case "table":
      return <><Rows rows={look.rows} /><Cut cut={look.cut} /></>;
    case "notebook":
      return <>{look.cells.map((cell, index) => <CellView key={index} cell={cell} />)}<Cut cut={look.cut} /></>;
    case "bytes":
      return (
        <>
          <p class="dn-small dn-muted">{look.why || `${legible(endingOf(path).toUpperCase()) || "A file"} of ${bytes(size)}, which is no text. Its first bytes:`}</p>
          <pre class="dn-look-text" dir="ltr">{look.hex}</pre>
        </>
      );
    default:
      return <Medium look={look} name={nameOf(path)} canSave={canSave} onSave={onSave} />;
  }
}

function Cut({ cut }: { cut: boolean }) {
  return cut ? <p class="dn-small dn-faint dn-look-cut">Only its beginning is shown.</p> : null;
}

let prose = 0;

/** As the panel shows what a model writes, with the same wall around it. */
function Prose({ text }: { text: string }) {
  // Images from elsewhere are allowed for a text by its number, which no message has.
  const [seq] = useState(() => --prose);
  const step = useMemo(() => ({ type: "text" as const, seq, text, state: "whole" as const }), [seq, text]);
  return <Markdown step={step} />;
}

function Rows({ rows }: { rows: readonly (readonly string[])[] }) {
  const [head, ...body] = rows;
  const widest = Math.max(0, ...rows.map((row) => row.length));
  const columns = Array.from({ length: widest }, (_, index) => index);
  return (
    <table class="dn-look-table">
      <thead>
        <tr>{columns.map((at) => <th key={at} scope="col"><bdi>{legible(head?.[at] ?? "")}</bdi></th>)}</tr>
      </thead>
      <tbody>
        {body.map((row, index) => (
          <tr key={index}>{columns.map((at) => <td key={at}><bdi>{legible(row[at] ?? "")}</bdi></td>)}</tr>
        ))}
      </tbody>
    </table>
  );
}

function CellView({ cell }: { cell: Cell }) {
  return (
    <div class="dn-look-cell" data-type={cell.type}>
      {cell.type === "markdown" ? <Prose text={cell.source} /> : <pre class="dn-look-text" dir="ltr">{legible(cell.source)}</pre>}
      {cell.outputs && <pre class="dn-look-text dn-muted" dir="ltr">{legible(cell.outputs)}</pre>}
    </div>
  );
}

interface MediumProps {
  look: Extract<Look, { content: Blob }>;
  name: string;
  canSave: boolean;
  onSave: () => void;
}

/** What the browser itself can show, by an address that is given back afterwards. */
function Medium({ look, name, canSave, onSave }: MediumProps) {
  const [url, setUrl] = useState("");
  const [failed, fail] = useState(false);
  useEffect(() => {
    const address = URL.createObjectURL(look.content);
    setUrl(address);
    fail(false);
    return () => URL.revokeObjectURL(address);
  }, [look.content]);
  if (!url) return null;
  const canShow = look.kind === "image" || navigator.pdfViewerEnabled;
  if (failed || !canShow)
    return (
      <div class="dn-pane-empty">
        <p>This browser cannot show {look.kind === "pdf" ? "PDF here" : "this image"}.</p>
        {canSave && <button type="button" class="dn-btn" onClick={onSave}><Icon name="download" small />Save as</button>}
      </div>
    );
  // A script in a drawing is not run in an image. A PDF cannot be shown in a sandbox; its type is ours, so it is no page.
  if (look.kind === "image") return <img class="dn-look-image" src={url} alt={legible(name)} onError={() => fail(true)} />;
  return <embed class="dn-look-pdf" src={`${url}#navpanes=0`} type="application/pdf" aria-label={legible(name)} />;
}
