/** What is known of a claim: the verdict in words, the passage, and what a person can do about it. */

import { useRef, useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import { enterSends } from "../chat/keys";
import type { Citation, Source } from "../model";
import { CopyButton } from "../parts/CopyButton";
import { timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { useTask } from "../parts/useTask";
import type { Claim } from "./Claims";
import { KindIcon } from "./KindIcon";
import { openSource } from "./openSource";
import { Excerpt } from "./Passage";
import { VERDICTS } from "./verdicts";

const LONGEST_NOTE = 2_000; // characters, as the kernel has it

interface CiteCardProps extends Claim {
  onClose: () => void;
}

export function CiteCard({ citation, settled, note, onClose }: CiteCardProps) {
  const sources = useStore((store) => store.sources);
  const cited = sources.get(citation.source);
  const holder = citation.at ? sources.get(citation.at.source) : cited;
  const { icon, tone, title } = VERDICTS[citation.verdict];
  return (
    <>
      <div class="dn-pop-head">
        <span class={`dn-${tone}`}><Icon name={icon} /></span>
        {title}
        <span class="dn-pop-why">{why(citation)}</span>
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon dn-push" aria-label="Close" onClick={onClose}>
          <Icon name="x" small />
        </button>
      </div>
      <div class="dn-pop-body">
        <Said citation={citation} />
        {citation.at && holder && <Excerpt source={holder} at={citation.at} />}
        {holder && <Origin source={holder} place={citation.place} />}
      </div>
      <Settling {...{ citation, settled, note }} />
      <Foot {...{ citation, holder, onClose }} />
    </>
  );
}

function why({ verdict, foundIn, source }: Citation): string {
  if (verdict !== "misattributed" || !foundIn) return VERDICTS[verdict].why;
  return `source ${foundIn} has it, and not ${source}`;
}

/** What the report says, where the passage does not say the same. */
function Said({ citation: { verdict, claim, quote } }: { citation: Citation }) {
  if (verdict === "quoted") return null;
  const isMissing = verdict === "missing" && quote;
  return (
    <p class="dn-small dn-stated">
      <span class="dn-faint">{isMissing ? "This quote is in none of the sources" : "The report says"}</span>
      {isMissing ? <s class="dn-muted">“{quote}”</s> : <span>{claim}</span>}
    </p>
  );
}

function Origin({ source, place }: { source: Source; place: string }) {
  return (
    <div class="dn-row dn-small dn-muted">
      <KindIcon source={source} />
      <span class="dn-cut" title={source.location}>
        {source.id} <b><bdi>{source.title}</bdi></b>{place && `, ${place}`}
      </span>
    </div>
  );
}

/** That the person has checked the claim, and a way to say so or to take it back: always the same button. */
function Settling({ citation, settled, note }: Claim) {
  const { client } = useApp();
  const task = useTask();
  const off = useConnection() === "lost";
  const [typed, setTyped] = useState(note);
  const button = useRef<HTMLButtonElement>(null);
  const send = () => {
    const said = settled ? "" : typed.trim();
    void task.run(() => client.request("settle", { run: citation.run, citation: citation.id, note: said, checked: !settled }));
  };
  const sendFromInput = () => {
    button.current!.focus(); // the input goes, and the button stays
    send();
  };
  return (
    <div class="dn-settling">
      {settled ? (
        <span class="dn-small dn-settled" role="status">
          <Icon name="check" small /><span>You have checked this, {timeOfDay(settled.time)}{settled.note && `: ${settled.note}`}</span>
        </span>
      ) : (
        <input class="dn-input" aria-label="Note, optional" placeholder="Note, if you like" maxLength={LONGEST_NOTE} value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)} onKeyDown={(event) => off || enterSends(event, sendFromInput)} />
      )}
      <button ref={button} type="button" class="dn-btn dn-btn-sm" aria-busy={task.busy} aria-disabled={task.busy} disabled={off} onClick={send}>
        <Icon name={settled ? "retry" : "check"} small />{settled ? "Take it back" : "I have checked it"}
      </button>
      {task.error && <p class="dn-small dn-bad" role="alert">{task.error}</p>}
    </div>
  );
}

interface FootProps {
  citation: Citation;
  holder: Source | undefined;
  onClose: () => void;
}

function Foot({ citation, holder, onClose }: FootProps) {
  const { ui } = useApp();
  return (
    <div class="dn-pop-foot">
      {holder && (
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-btn-bare"
          onClick={() => {
            onClose();
            openSource(ui, citation.at ?? { source: holder.id, passage: 0, span: null });
          }}
        >
          <Icon name="book" small />Open in Sources
        </button>
      )}
      <CopyButton class="dn-btn dn-btn-sm dn-btn-bare" text={() => withCitation(citation, holder)}>Copy with citation</CopyButton>
    </div>
  );
}

/** “The core was imperfect” (Report of the Joint Committee, p. 215, inquiry-1861.pdf) */
export function withCitation({ claim, quote, place }: Citation, source: Source | undefined): string {
  const said = quote ? `“${quote}”` : claim;
  const from = source ? [source.title, place, source.location !== source.title && source.location].filter(Boolean).join(", ") : "";
  return from ? `${said} (${from})` : said;
}
