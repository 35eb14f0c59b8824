/** Claims in rows, each of which opens what is known of it. */

import type { Citation, Report, Settled } from "../model";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { CiteCard } from "./CiteCard";
import { nameOf, VERDICTS } from "./verdicts";

export interface Claim {
  readonly citation: Citation;
  readonly settled: Settled | undefined;
  /** What the person has noted of it, also if they have taken the rest back. */
  readonly note: string;
}

export function claimOf({ settled, notes }: Report, citation: Citation): Claim {
  return { citation, settled: settled.get(citation.id), note: notes.get(citation.id) ?? "" };
}

export function Claims({ claims }: { claims: readonly Claim[] }) {
  return (
    <ul class="dn-claims">
      {claims.map((claim) => (
        <li key={`${claim.citation.run} ${claim.citation.id}`}>
          <Popover wide class="dn-claim" title={nameOf(claim.citation, claim.settled !== undefined)} button={<Row {...claim} />}>
            {(close) => <CiteCard {...claim} onClose={close} />}
          </Popover>
        </li>
      ))}
    </ul>
  );
}

function Row({ citation, settled }: Claim) {
  const { icon, tone, title } = VERDICTS[citation.verdict];
  const named = [citation.source, citation.foundIn].filter(Boolean).join(" → ");
  const where = [named, citation.place].filter(Boolean).join(", ");
  return (
    <>
      <span class={`dn-${tone}`}><Icon name={icon} small /><span class="dn-sr">{title}: </span></span>
      <span class="dn-claim-said"><bdi>{citation.claim || citation.quote}</bdi></span>
      <span class="dn-meta">
        {settled && <><Icon name="check" small /><span class="dn-sr">Checked by you. </span></>}
        {where}
      </span>
    </>
  );
}
