/** What is on its way between the two sides. */

import { useObserved } from "../../app";
import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { clock, counted } from "../../parts/format";
import { nameOf } from "../tools/paths";
import type { Transfer, Transfers } from "../types";
import { bytes } from "./kinds";

const MOST = 5; // are shown; the others are counted
const KINDS = { up: ["Upload", "upload"], down: ["Download", "download"], in: ["Reading", "monitor"] } as const;

export function TransferList({ transfers }: { transfers: Transfers }) {
  const list = useObserved(transfers, ({ list }) => list);
  const order = { failed: 0, running: 1, paused: 2, waiting: 3, done: 4 };
  const shown = list.toSorted((one, other) => order[one.state] - order[other.state]).slice(0, MOST);
  return (
    <>
      {shown.map((transfer) => <Line key={transfer.id} transfer={transfer} transfers={transfers} />)}
      {list.length > MOST && <p class="dn-upload-more dn-small dn-faint">and {counted(list.length - MOST, "more file")}</p>}
    </>
  );
}

function Line({ transfer, transfers }: { transfer: Transfer; transfers: Transfers }) {
  const { id, direction, source, target, purpose, state, size, done, problem } = transfer;
  const name = legible(nameOf(source));
  const share = size ? Math.min(100, (100 * done) / size) : state === "done" ? 100 : 0;
  const [kind, icon] = KINDS[direction];
  const to = direction === "in" ? "My computer" : purpose === "index" ? "the agent’s index" : legible(target);
  const button = (label: string, icon: "pause" | "right" | "x", act: (id: string) => void) => (
    <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label={`${label} ${name}`} title={label} onClick={() => act(id)}>
      <Icon name={icon} small />
    </button>
  );
  return (
    <div class="dn-upload" role="group" aria-label={`${kind} of ${name}`}>
      <Icon name={state === "failed" ? "warn" : icon} small />
      <div class="dn-row">
        <span class="dn-mono dn-cut"><bdi>{name}</bdi></span>
        <span class="dn-hide-narrow dn-to"><Icon name="right" small /></span>
        <span class="dn-mono dn-cut dn-muted dn-hide-narrow"><bdi>{to}</bdi></span>
        <span class="dn-push dn-faint dn-nowrap">{progressOf(transfer)}</span>
      </div>
      <span class="dn-row dn-upload-acts">
        {(state === "running" || state === "waiting") && direction !== "in" && button("Pause", "pause", (id) => transfers.pause(id))}
        {state === "paused" && button("Go on with", "right", (id) => transfers.resume(id))}
        {state === "failed" && (
          <button type="button" class="dn-btn dn-btn-sm" onClick={() => transfers.resume(id)}>Try again</button>
        )}
        {state !== "done" && button(state === "failed" ? "Give up" : "Cancel", "x", (id) => transfers.cancel(id))}
      </span>
      {state === "failed" ? (
        <span class="dn-bad dn-upload-why" role="alert">{legible(problem)}</span>
      ) : (
        <div class="dn-bar" role="progressbar" aria-label={name} aria-valuenow={Math.round(share)} aria-valuemin={0} aria-valuemax={100} aria-valuetext={progressOf(transfer)}>
          <i style={{ "--v": `${share}%` }} />
        </div>
      )}
    </div>
  );
}

/** "131 of 200 MB, 16 MB/s, 4 s left" */
export function progressOf({ state, size, done, speed, problem }: Transfer): string {
  const [part, all] = [bytes(done), bytes(size)];
  const unit = all.slice(all.indexOf(" "));
  const amount = part.endsWith(unit) ? `${part.slice(0, -unit.length)} of ${all}` : `${part} of ${all}`;
  if (state === "failed") return "failed";
  if (state === "done") return all;
  if (state === "waiting") return `waiting, ${all}`;
  if (state === "paused") return `${amount}, ${problem ? "waiting for the kernel" : "paused"}`;
  if (!speed) return amount;
  const left = (size - done) / speed;
  return `${amount}, ${bytes(speed)}/s, ${left < 60 ? `${Math.max(1, Math.round(left))} s` : clock(left)} left`;
}
