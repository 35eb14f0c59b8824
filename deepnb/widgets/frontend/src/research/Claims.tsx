/** Claims in rows, each of which opens what is known of it. */

import type { Citation, Settled } from "../model";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { CiteCard } from "./CiteCard";
import { nameOf, numberOf, VERDICTS } from "./verdicts";

export interface Claim {
  readonly citation: Citation;
  readonly settled: Settled | undefined;
}

export function Claims({ claims }: { claims: readonly Claim[] }) {
  return (
    <ul class="dn-claims">
      {claims.map(({ citation, settled }) => (
        <li key={`${citation.run} ${citation.id}`}>
          <Popover wide class="dn-claim" title={nameOf(citation, settled !== undefined)} button={<Row {...{ citation, settled }} />}>
            {(close) => <CiteCard {...{ citation, settled }} onClose={close} />}
          </Popover>
        </li>
      ))}
    </ul>
  );
}

function Row({ citation, settled }: Claim) {
  const { icon, tone, title } = VERDICTS[citation.verdict];
  const named = [citation.source, citation.foundIn].filter(Boolean).map(numberOf).join(" → ");
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
