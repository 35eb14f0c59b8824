/** A passage as it was read. There may be thousands: each is drawn once, and again if it is led to. */

import type { Passage } from "../model";
import { memo } from "../parts/memo";
import { pieces } from "../research/Passage";

/** Where quotes are, by the number of the passage. */
export type Spans = ReadonlyMap<number, readonly (readonly [number, number])[]>;

interface ReadPassageProps {
  passage: Passage;
  index: number;
  spans: readonly (readonly [number, number])[] | undefined;
  current: string | null;
}

/** Only what is about this one, so that the others stay as they are. */
export function ReadPassage({ passage, index, spans, current }: ReadPassageProps) {
  const own = current?.split(" ")[0] === String(index) ? current : null;
  return <Drawn passage={passage} index={index} spans={spans} current={own} />;
}

const Drawn = memo(function Drawn({ passage, index, spans, current }: ReadPassageProps) {
  return (
    <div class="dn-seen dn-quote" data-at={index} data-current={current === String(index) || undefined} tabIndex={-1}>
      {passage.place && <p class="dn-small dn-faint">{passage.place}</p>}
      <p>
        {pieces(passage.text, spans ?? []).map(({ text, start }, place) => {
          if (start === null) return text;
          const at = `${index} ${start}`;
          return <mark key={place} data-at={at} aria-current={at === current || undefined} tabIndex={-1}>{text}</mark>;
        })}
      </p>
    </div>
  );
});
