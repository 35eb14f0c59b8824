/** A run whose next call is not paid for: pay a token in, or end it here. */

import { useStore } from "../app";
import type { QuestionStep } from "../model";
import { usePaying } from "../money/paying";
import { sats } from "../money/sats";
import { PayingStatus, Terms, TokenField } from "../money/TokenField";
import { useAnswer } from "./answer";
import { Button, Card, Status } from "./Card";
import type { PaymentQuestion } from "./requests";

export function Payment({ step, asked }: { step: QuestionStep; asked: PaymentQuestion }) {
  const answer = useAnswer(step);
  const paying = usePaying();
  const pubkey = useStore((store) => store.facts?.payment?.pubkey ?? "");
  const { price, balance, mints } = asked;
  return (
    <Card step={step} icon="coin" title="This needs money">
      <div class="dn-ask-body">
        <p class="dn-ask-q">
          A call costs {sats(price)}, and {balance ? sats(balance) : "nothing"} is left. Pay in a token, and it goes on where it
          stopped.
        </p>
        <TokenField paying={paying} />
        <Terms mints={mints} pubkey={pubkey} />
      </div>
      <div class="dn-ask-foot">
        <Button look="solid" locked={answer.locked || paying.locked} busy={paying.busy} onClick={paying.pay}>
          Pay and go on
        </Button>
        <Button icon="stop" locked={answer.locked || paying.busy} onClick={() => answer.send({ stop: true })}>
          Stop
        </Button>
        <PayingStatus paying={paying} />
        <Status answer={answer} />
      </div>
    </Card>
  );
}
