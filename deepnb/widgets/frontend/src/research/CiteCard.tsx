/** What is known of a claim: the verdict in words, the passage, and what a person can do about it. */

import { useApp, useConnection, useStore } from "../app";
import type { Citation, Settled, Source } from "../model";
import { CopyButton } from "../parts/CopyButton";
import { timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { useTask } from "../parts/useTask";
import { KindIcon } from "./KindIcon";
import { openSource } from "./openSource";
import { Excerpt } from "./Passage";
import { numberOf, VERDICTS } from "./verdicts";

interface CiteCardProps {
  citation: Citation;
  settled: Settled | undefined;
  onClose: () => void;
}

export function CiteCard({ citation, settled, onClose }: CiteCardProps) {
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
      <Foot {...{ citation, settled, holder, onClose }} />
    </>
  );
}

function why({ verdict, foundIn, source }: Citation): string {
  if (verdict !== "misattributed" || !foundIn) return VERDICTS[verdict].why;
  return `source ${numberOf(foundIn)} has it, and not ${numberOf(source)}`;
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
        {numberOf(source.id)}. <b><bdi>{source.title}</bdi></b>{place && `, ${place}`}
      </span>
    </div>
  );
}

interface FootProps {
  citation: Citation;
  settled: Settled | undefined;
  holder: Source | undefined;
  onClose: () => void;
}

function Foot({ citation, settled, holder, onClose }: FootProps) {
  const { client, ui } = useApp();
  const task = useTask();
  const off = useConnection() === "lost";
  const settle = () => client.request("settle", { run: citation.run, citation: citation.id, note: "" });
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
      {settled ? (
        <span class="dn-small dn-settled" role="status">
          <Icon name="check" small />You have checked this, {timeOfDay(settled.time)}{settled.note && `: ${settled.note}`}
        </span>
      ) : (
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-btn-bare"
          aria-busy={task.busy}
          disabled={task.busy || off}
          onClick={() => task.run(settle)}
        >
          <Icon name="check" small />I have checked it
        </button>
      )}
      <CopyButton class="dn-btn dn-btn-sm dn-btn-bare" text={() => withCitation(citation, holder)}>Copy with citation</CopyButton>
      {task.error && <p class="dn-small dn-bad" role="alert">{task.error}</p>}
    </div>
  );
}

/** “The core was imperfect” (Report of the Joint Committee, p. 215, inquiry-1861.pdf) */
export function withCitation({ claim, quote, place }: Citation, source: Source | undefined): string {
  const said = quote ? `“${quote}”` : claim;
  const from = source ? [source.title, place, source.location !== source.title && source.location].filter(Boolean).join(", ") : "";
  return from ? `${said} (${from})` : said;
}
