/** Which model answers, how it was chosen and whether it can; and another one in its place. */

import { useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { Popover } from "../parts/Popover";
import { useTask } from "../parts/useTask";
import type { Model } from "../protocol";
import type { Store } from "../store";

const TONES = { offline: undefined, ready: "ok", loading: "warn", failed: "bad" } as const;

export function ModelPill() {
  const model = useStore((store) => store.facts?.model ?? null);
  const asks = useStore(asksByRule);
  const lost = useConnection() === "lost";
  if (lost) return <span class="dn-pill"><span class="dn-dot" data-tone="warn" />Disconnected</span>;
  if (!model) return null;
  const { name, why } = words(model, asks);
  const shown = (
    <>
      {model.state === "loading" ? <span class="dn-spin" /> : <span class="dn-dot" data-tone={TONES[model.state]} />}
      <span class="dn-sr">Model: </span>
      <span class="dn-cut">{name}</span>
      {why && <span class={model.state === "loading" || model.state === "failed" ? "dn-why dn-cut" : "dn-why dn-cut dn-hide-narrow"}>{why}</span>}
      <span class="dn-sr">{model.state}.</span>
    </>
  );
  if (!model.can_switch) return <span class="dn-pill" title={legible(model.detail)}>{shown}</span>;
  return (
    <Popover class="dn-pill" title="Which model answers" button={<>{shown}<span class="dn-sr">Change model</span></>}>
      {(close) => <Choice model={model} onClose={close} />}
    </Popover>
  );
}

/** Whether an agent asks, where others would quote for want of a model. */
export function asksByRule({ facts }: Store): boolean {
  return facts?.agent === "tutor" || facts?.agent === "seminar";
}

function words(model: Model, asks: boolean): { name: string; why: string } {
  const name = legible(model.name);
  if (model.state === "offline") return { name: `${asks ? "By rule" : "Quotes"} only — no model configured`, why: "" };
  if (model.state === "failed") return { name, why: legible(model.detail) || "cannot be used" };
  if (model.state !== "loading") return { name, why: legible(model.rule) };
  return { name: `Loading ${name}`, why: model.progress === null ? legible(model.detail) : `${Math.round(model.progress * 100)}%` };
}

function Choice({ model, onClose }: { model: Model; onClose: () => void }) {
  const { client } = useApp();
  const options = useStore((store) => store.facts?.models) ?? [];
  const task = useTask();
  const [spec, setSpec] = useState("");
  const use = (wanted: string) =>
    task.run(async () => {
      await client.request("set_model", { spec: wanted });
      onClose();
    });
  return (
    <div class="dn-pop-body dn-models">
      <p class="dn-strong">Which model answers</p>
      {model.detail && <p class="dn-small dn-muted">{legible(model.detail)}</p>}
      {options.map(({ spec, rule }) => (
        <button type="button" class="dn-menu-item" key={spec} aria-pressed={spec === model.name} aria-busy={task.busy} disabled={task.busy} onClick={() => use(spec)}>
          <Icon name={spec === model.name ? "check" : "model"} />
          <span class="dn-cut">{legible(spec)}</span>
          <span class="dn-small dn-faint dn-cut">{legible(rule)}</span>
        </button>
      ))}
      <form class="dn-row" onSubmit={(event) => (event.preventDefault(), spec.trim() && use(spec.trim()))}>
        <input class="dn-input dn-mono" data-first aria-label="Another model, as provider:model" placeholder="provider:model" spellcheck={false} value={spec} onInput={(event) => setSpec(event.currentTarget.value)} />
        <button type="submit" class="dn-btn dn-btn-solid" aria-busy={task.busy} disabled={task.busy || !spec.trim()}>Use</button>
      </form>
      {task.error && <p class="dn-small dn-bad" role="alert">{task.error}</p>}
    </div>
  );
}
