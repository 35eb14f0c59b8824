/** What the audit of a plan has found. It speaks first, and names the policy that applied. */

import { counted } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import type { Audit } from "./requests";

const ICONS = { ok: "check", warn: "warn", bad: "x" } as const;
const WORDS = { ok: "fine", warn: "remark", bad: "refused" };

export function AuditStrip({ audit, refusals }: { audit: Audit; refusals: number }) {
  const { passed, remarks, checks } = audit;
  const tone = !passed
    ? "bad"
    : remarks.length || checks.some((check) => check.status !== "ok")
      ? "warn"
      : "ok";
  const verdict = passed ? "passed" : "not passed";
  const drafts = passed ? `${counted(refusals, "earlier draft")} refused` : `${counted(refusals, "draft")} refused, now you decide`;
  return (
    <>
      <div class="dn-row dn-wrap">
        <span class="dn-tag" data-tone={tone}>
          <Icon name="shield" />
          Audit: {verdict}
          {remarks.length ? `, ${counted(remarks.length, passed ? "remark" : "reason")}` : ""}
        </span>
        {audit.policy && (
          <span class="dn-small dn-muted">
            against <bdi class="dn-mono">{legible(audit.policy)}</bdi>
          </span>
        )}
        {refusals > 0 && <span class="dn-small dn-muted dn-push">{drafts}</span>}
      </div>
      {audit.summary && <p class="dn-audit-said">{legible(audit.summary)}</p>}
      {checks.length > 0 && (
        <div class="dn-audit">
          {checks.map((check) => (
            <div>
              <span class={`dn-${check.status}`}>
                <Icon name={ICONS[check.status]} />
              </span>
              <b>
                {legible(check.name)}
                <span class="dn-sr">: {WORDS[check.status]}</span>
              </b>
              <small>{legible(check.note)}</small>
            </div>
          ))}
        </div>
      )}
      {remarks.length > 0 && (
        <ul class="dn-audit-remarks" data-tone={tone} aria-label={passed ? "Remarks" : "Reasons"}>
          {remarks.map((remark) => (
            <li>{legible(remark)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
