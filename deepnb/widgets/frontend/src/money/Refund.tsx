/** What came of settling: the sums, and the money, which is shown to whoever asks and to nobody else. */

import { useState } from "preact/hooks";

import { useApp } from "../app";
import { copyText } from "../parts/clipboard";
import { counted } from "../parts/format";
import { useTask } from "../parts/useTask";
import type { RefundFacts } from "../protocol";
import { Button } from "../questions/Card";
import { QrCode } from "./QrCode";
import { sats } from "./sats";

export function Refund({ refund: { amount, kept, fee, lost, waiting, claimed } }: { refund: RefundFacts }) {
  const back = claimed ? "taken back" : "for you to take back";
  return (
    <section class="dn-refund" aria-label="Refund">
      <p class="dn-strong">
        {amount ? `${sats(amount)} ${back}` : waiting ? "Not settled yet" : "Nothing was left to give back"}
      </p>
      <p class="dn-small dn-muted">
        {sats(kept)} kept for the calls, {sats(fee)} taken by the mint as its fee
        {lost > 0 && `, ${sats(lost)} lost: spent elsewhere`}
      </p>
      {waiting > 0 && <p class="dn-small">{sats(waiting)} wait for the mint. Settle again later.</p>}
      {amount > 0 && !claimed && <Money />}
    </section>
  );
}

/** The tokens are held as long as they are seen, and gone when what shows them is closed. */
function Money() {
  const { client } = useApp();
  const [shown, show] = useState<readonly string[]>([]);
  const [copied, setCopied] = useState(false);
  const task = useTask();
  const reveal = async () => (shown.length ? shown : (await client.request("reveal_refund", {})).tokens);
  const copy = async () => {
    setCopied(false);
    if (!(await copyText((await reveal()).join("\n")))) throw new Error("The browser did not let the panel copy.");
    setCopied(true);
  };
  return (
    <>
      <div class="dn-row dn-wrap">
        {shown.length ? (
          <Button onClick={() => show([])}>Hide the token</Button>
        ) : (
          <Button locked={task.busy} onClick={() => void task.run(async () => show(await reveal()))}>
            Show the token
          </Button>
        )}
        <Button icon="copy" locked={task.busy} onClick={() => void task.run(copy)}>
          Copy the token
        </Button>
        {copied && (
          <span class="dn-small dn-muted" role="status">
            Copied
          </span>
        )}
      </div>
      <p class="dn-help">It is money: whoever sees it can take it. Receive it in your wallet soon.</p>
      {task.error && (
        <p class="dn-ask-refused" role="alert">
          {task.error}
        </p>
      )}
      {shown.length > 1 && <p class="dn-small">{counted(shown.length, "token")}: receive each of them.</p>}
      {shown.map((token, at) => {
        const which = shown.length > 1 ? `, ${at + 1} of ${shown.length}` : "";
        return (
          <div key={at} class="dn-refund-token">
            <QrCode text={token} label={`Refund as a QR code${which}`} />
            <pre class="dn-token" tabIndex={0} aria-label={`Refund token${which}`} role="group">
              {token}
            </pre>
          </div>
        );
      })}
    </>
  );
}
