/** The run's status at the foot of a view that hides the chat. What waits for the person leads there. */

import { useApp, useStore } from "../app";
import type { Turn } from "../model";
import { Elapsed } from "../parts/Elapsed";
import { counted, took } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import type { Store } from "../store";

interface DockProps {
  /** Shows the chat, at a question if one is named. */
  onChat: (question?: string) => void;
  /** Shown only where the panel is too narrow for the chat beside it. */
  narrow?: boolean;
}

export function Dock({ onChat, narrow = false }: DockProps) {
  const { store } = useApp();
  const line = useStore(statusLine);
  const open = useStore((store) => store.open.length);
  const status = useStore((store) => store.facts?.status);
  const since = useStore((store) => currentTurn(store)?.since ?? null);
  const running = status === "running";
  return (
    <div class={narrow ? "dn-dock dn-only-narrow" : "dn-dock"}>
      {running && <span class="dn-spin" aria-hidden="true" />}
      <span class="dn-cut dn-grow dn-muted" role="status">
        {line}
      </span>
      {running && since !== null && (
        <span class="dn-small dn-faint">
          <Elapsed since={since} />
        </span>
      )}
      {open > 0 ? (
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-accent"
          onClick={() => onChat(store.open[0]?.id)}
        >
          <Icon name="ask" small />
          {counted(open, "question waits", "questions wait")} for you
        </button>
      ) : (
        <button type="button" class="dn-btn dn-btn-sm" onClick={() => onChat()}>
          <Icon name="ask" small />
          Chat
        </button>
      )}
    </div>
  );
}

/** What the session is at, in a few words. */
export function statusLine(store: Store): string {
  const turn = currentTurn(store);
  switch (store.facts?.status) {
    case "running":
      return store.trace.findLast((row) => row.live)?.line || "Working";
    case "waiting":
      return store.open.length ? "Waits for you" : legible(store.facts.waiting_for) || "Waits";
    case "failed":
      return turn?.why ? `Failed: ${turn.why}` : "Failed";
    case "stopped":
      return "Stopped";
    case "closed":
      return "Session closed";
    default:
      if (!turn) return "Nothing asked yet";
      return turn.seconds === null ? "Finished" : `Finished in ${took(turn.seconds)}`;
  }
}

/** The turn that was begun last; others may wait behind it. */
function currentTurn({ turns }: Store): Turn | undefined {
  return turns.findLast((turn) => turn.status !== "queued" && turn.status !== "sending");
}
