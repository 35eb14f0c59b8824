/** Where a token is pasted, what came of it, and which tokens are taken. */

import { isComposing } from "../chat/keys";
import { CopyButton } from "../parts/CopyButton";
import { legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import type { Paying } from "./paying";

/** No field for a password: a browser would offer to keep that. `first` takes the focus of a popover. */
export function TokenField({ paying, first }: { paying: Paying; first?: boolean }) {
  const id = useUnique();
  const { field, problem, look, pay } = paying;
  return (
    <div class="dn-token-field">
      <label class="dn-strong" for={id}>
        Cashu token
      </label>
      <input
        id={id}
        ref={field}
        class="dn-input dn-mono dn-secret"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        data-first={first}
        aria-invalid={problem !== ""}
        aria-describedby={`${id}-help`}
        onInput={look}
        onKeyDown={(event) => event.key === "Enter" && !isComposing(event) && pay()}
      />
      <p id={`${id}-help`} class="dn-help" data-tone={problem ? "bad" : undefined}>
        {problem || "Keep it in your wallet until it is taken: this field is emptied when you pay."}
      </p>
    </div>
  );
}

/** How the payment stands, and what the mint had against it. */
export function PayingStatus({ paying: { busy, paid, refused } }: { paying: Paying }) {
  const said = busy ? "Asking the mint…" : paid ? "Paid in" : "";
  return (
    <>
      {said && (
        <span class="dn-small dn-muted dn-ask-status" role="status">
          {said}
        </span>
      )}
      {refused && (
        <p class="dn-ask-refused" role="alert">
          {refused}
        </p>
      )}
    </>
  );
}

/** Whose tokens are taken, and the key to lock them to. */
export function Terms({ mints, pubkey }: { mints: readonly string[]; pubkey: string }) {
  return (
    <div>
      <dl class="dn-terms">
        <dt>{mints.length === 1 ? "Mint" : "Mints"}</dt>
        <dd>
          {mints.map((mint) => (
            <bdi key={mint} class="dn-mono">
              {legible(mint)}
            </bdi>
          ))}
        </dd>
        {pubkey && (
          <>
            <dt>Key</dt>
            <dd class="dn-row">
              <bdi class="dn-mono dn-cut" title={pubkey}>
                {pubkey}
              </bdi>
              <CopyButton class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" label="Copy the key" text={() => pubkey} />
            </dd>
          </>
        )}
      </dl>
      {pubkey && <p class="dn-help">A token that is locked to this key is safe: nobody can spend it on the way here.</p>}
    </div>
  );
}
