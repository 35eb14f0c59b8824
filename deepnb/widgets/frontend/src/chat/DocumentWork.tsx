/** What is being done to the documents, while it goes on: they can be asked about meanwhile. */

import { useStore } from "../app";
import { tokens as thousands } from "../parts/format";
import type { KnowledgeWork } from "../protocol";

const WORDS: Record<KnowledgeWork["phase"], string> = {
  reading: "Reading documents",
  waiting: "Waiting for another process that reads these documents",
  loading: "Loading the embedding model",
  embedding: "Embedding passages",
};

export function DocumentWork() {
  const work = useStore((store) => store.facts?.knowledge ?? null);
  if (!work) return null;
  const { phase, done, total } = work;
  const isRead = phase === "loading" || phase === "embedding";
  return (
    <div class="dn-reading" title={isRead ? "Words are searched by now, and their meaning when this is done" : undefined}>
      <span class="dn-spin" />
      <span class="dn-cut" role="status">{WORDS[phase]}</span>
      {total > 0 && (
        <>
          <span class="dn-bar" role="progressbar" aria-label={WORDS[phase]} aria-valuemin={0} aria-valuemax={total} aria-valuenow={done}>
            <i style={{ "--v": `${Math.round((100 * done) / total)}%` }} />
          </span>
          <span class="dn-count">{thousands(done)} of {thousands(total)}</span>
        </>
      )}
    </div>
  );
}
