/** What is left of the money that pays for calls, in the bar; it opens to pay in, and to take back. */

import { useApp, useConnection, useStore } from "../app";
import { counted } from "../parts/format";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { useTask, type Task } from "../parts/useTask";
import type { PaymentFacts } from "../protocol";
import { Button } from "../questions/Card";
import { usePaying, type Paying } from "./paying";
import { Refund } from "./Refund";
import { sats } from "./sats";
import { PayingStatus, Terms, TokenField } from "./TokenField";

export function Balance() {
  const payment = useStore((store) => store.facts?.payment ?? null);
  const thread = useStore((store) => store.facts?.thread);
  return payment && <Known key={thread} payment={payment} />;
}

/** What is under way outlives the popover, which a click elsewhere closes. */
function Known({ payment }: { payment: PaymentFacts }) {
  const paying = usePaying();
  const settling = useTask();
  const { balance, price } = payment;
  return (
    <Popover
      class="dn-btn dn-btn-bare dn-balance"
      label={`Balance: ${sats(balance)} · ${price} a call`}
      title="Payment"
      align="end"
      wide
      button={
        <>
          <Icon name="coin" />
          <span class={balance < price ? "dn-warn" : undefined}>{sats(balance)}</span>{" "}
          <span class="dn-faint dn-hide-narrow">· {price} a call</span>
        </>
      }
    >
      {() => <Account {...{ payment, paying, settling }} />}
    </Popover>
  );
}

interface AccountProps {
  payment: PaymentFacts;
  paying: Paying;
  settling: Task;
}

function Account({ payment, paying, settling }: AccountProps) {
  const { balance, spent, price, mints, pubkey, status } = payment;
  const refund = payment.refund && <Refund key={payment.refund.handle} refund={payment.refund} />;
  return (
    <div class="dn-pop-body dn-account">
      <div>
        <p class="dn-row dn-figure">
          <b>{sats(balance)}</b>
          <span class="dn-muted">{balance < price ? "left" : `left, for ${counted(Math.floor(balance / price), "call")}`}</span>
        </p>
        <p class="dn-small dn-muted">
          A call costs {sats(price)}. {sats(spent)} spent so far.
        </p>
      </div>
      {status === "settled" && refund}
      <TokenField paying={paying} first />
      <div class="dn-row dn-wrap">
        <Button locked={paying.locked} busy={paying.busy} onClick={paying.pay}>
          Add money
        </Button>
        <PayingStatus paying={paying} />
      </div>
      <Terms mints={mints} pubkey={pubkey} />
      <Settling payment={payment} task={settling} />
      {status !== "settled" && refund}
    </div>
  );
}

function Settling({ payment: { balance, status }, task }: { payment: PaymentFacts; task: Task }) {
  const { client } = useApp();
  const lost = useConnection() === "lost";
  if (status === "unfunded" || (status === "settled" && !balance)) return null;
  return (
    <div class="dn-settle">
      <div class="dn-row">
        <Button
          locked={lost || task.busy}
          busy={task.busy}
          onClick={() => void task.run(() => client.request("settle_payment", {}))}
        >
          Settle
        </Button>
        <span class="dn-small dn-muted">Ends the account, and gives back what is left.</span>
      </div>
      {task.error && (
        <p class="dn-ask-refused" role="alert">
          {task.error}
        </p>
      )}
    </div>
  );
}
