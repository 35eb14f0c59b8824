/** The input: sends, queues or steers; says which model answers; holds what waits on its back. */

import { useEffect, useRef } from "preact/hooks";

import { useApp, useConnection, useStore, useUi } from "../app";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { useTask } from "../parts/useTask";
import type { Store } from "../store";
import { enterSends } from "./keys";
import { DocumentWork } from "./DocumentWork";
import { asksByRule, ModelPill } from "./ModelPill";
import { PlanPeek, Queue } from "./Queue";
import { useAsk } from "./useAsk";
import { useRun } from "./useRun";

export function Composer() {
  const { client, store, ui } = useApp();
  const run = useRun();
  const lost = useConnection() === "lost";
  const status = useStore((store) => store.facts?.status ?? "idle");
  const isEmpty = useStore((store) => store.turns.length === 0);
  const sending = useStore(isSending);
  const open = useStore((store) => store.open.length);
  const takesMessages = useStore((store) => store.facts?.takes_messages !== false);
  const draft = useUi((ui) => ui.draft);
  const { ask, error } = useAsk();
  const steering = useTask();
  const stopping = useTask();
  const foot = useRef<HTMLDivElement>(null);
  const input = useFocusOnCall();
  const off = lost || status === "closed";
  const active = status === "running" || status === "waiting";
  const said = takesMessages ? draft.trim() : "";

  const send = () => {
    const text = ui.draft.trim(); // Enter may come before what was typed is drawn
    if (!text || off) return;
    ui.set({ draft: "" });
    void ask(text);
  };
  const steer = () =>
    steering.run(async () => {
      await client.request("steer", { text: said, run });
      if (ui.draft.trim() === said) ui.set({ draft: "" });
      input.current?.focus();
    });
  const problem = error || steering.error || stopping.error;
  return (
    <div class="dn-foot" ref={foot}>
      {isEmpty && <OfflineNote onChoose={() => foot.current?.querySelector<HTMLElement>(".dn-pill")?.click()} />}
      <DocumentWork />
      <PlanPeek />
      <Queue />
      <div class="dn-composer">
        {takesMessages ? (
          <textarea
            ref={input}
            rows={Math.min(8, draft.split("\n").length)}
            aria-label="Message"
            dir="auto"
            placeholder={off ? "Not connected" : placeholder(status, isEmpty, open)}
            readOnly={off}
            value={draft}
            onInput={(event) => ui.set({ draft: event.currentTarget.value })}
            onKeyDown={(event) => enterSends(event, send)}
          />
        ) : (
          <p class="dn-muted dn-deaf">This graph takes no messages. Give it its input in a cell: <code>session.ask({"{...}"})</code></p>
        )}
        <div class="dn-composer-row">
          <ModelPill />
          <span class="dn-grow" />
          <span class="dn-small dn-faint dn-hide-narrow dn-hint">{off || !takesMessages ? "" : hint(status, open, said)}</span>
          {status === "running" && said && !off && (
            <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" aria-busy={steering.busy} disabled={steering.busy} onClick={steer}>
              <Icon name="steer" small />Steer now
            </button>
          )}
          {active && said && !off && (
            <button type="button" class="dn-btn dn-btn-sm" onClick={send}>Queue</button>
          )}
          {active ? (
            <button type="button" class="dn-btn dn-btn-solid dn-btn-icon dn-send" aria-label="Stop the run" title="Stop the run"
              aria-busy={stopping.busy} disabled={stopping.busy || off} onClick={() => stopping.run(() => client.request("stop", { run }))}>
              <Icon name="stop" />
            </button>
          ) : takesMessages && (
            <button type="button" class="dn-btn dn-btn-solid dn-btn-icon dn-send" aria-label="Send" title="Send" disabled={!said || off} onClick={send}>
              <Icon name="up" />
            </button>
          )}
        </div>
      </div>
      {problem && <p class="dn-small dn-bad dn-problem" role="alert">{legible(problem)}</p>}
      {!active && !sending && takesMessages && (
        // The second of two quick clicks comes before anything is drawn anew.
        <QuickActions off={off} onPick={(text) => void (isSending(store) || ask(text))} />
      )}
    </div>
  );
}

function isSending({ turns }: Store): boolean {
  return turns.some(({ status }) => status === "sending");
}

function placeholder(status: string, isEmpty: boolean, open: number): string {
  if (status === "running") return "Queue a follow-up";
  if (status === "waiting") return open ? "Queue a follow-up, or answer above" : "Queue a follow-up";
  return isEmpty ? "Ask about your documents" : "Ask a follow-up";
}

function hint(status: string, open: number, said: string): string {
  if (status === "waiting") return open > 1 ? `${open} questions open` : "The run waits for you";
  if (status === "running") return said ? "Enter queues" : "";
  return "Enter to send";
}

/** An input that takes the focus when something else in the panel has led to it. */
function useFocusOnCall() {
  const input = useRef<HTMLTextAreaElement>(null);
  const calls = useUi((ui) => ui.focus);
  useEffect(() => {
    if (!calls) return;
    input.current?.focus();
    input.current?.setSelectionRange(input.current.value.length, input.current.value.length);
  }, [calls]);
  return input;
}

function OfflineNote({ onChoose }: { onChoose: () => void }) {
  const model = useStore((store) => store.facts?.model ?? null);
  const asks = useStore(asksByRule);
  const paid = useStore((store) => !!store.facts?.payment);
  if (model?.state !== "offline") return null;
  return (
    <div class="dn-note dn-offline">
      <Icon name="quote" />
      <span>
        <b>{asks ? "It works by rule, from what your argument lacks." : "Answers will be verbatim quotes, each with its source."}</b>{" "}
        {!paid && "Nothing leaves this machine. "}For {asks ? "more than that" : "written reports"}, {model.can_switch ? <button type="button" class="dn-link" onClick={onChoose}>choose a model</button> : "choose a model"} or
        set <code>DEEPNB_MODEL</code>.
      </span>
    </div>
  );
}

function QuickActions({ off, onPick }: { off: boolean; onPick: (text: string) => void }) {
  const actions = useStore((store) => store.facts?.actions);
  if (!actions?.length) return null;
  return (
    <div class="dn-chips" role="group" aria-label="Quick actions">
      {actions.map(({ label, text }, index) => (
        <button type="button" class="dn-chip" key={index} title={legible(text)} disabled={off} onClick={() => onPick(text)}>
          {legible(label)}
        </button>
      ))}
    </div>
  );
}
