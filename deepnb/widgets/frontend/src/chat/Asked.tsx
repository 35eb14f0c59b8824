/** What the person asked; it can be asked again in other words, in a thread that branches off. */

import { useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import type { Turn } from "../model";
import { CopyButton } from "../parts/CopyButton";
import { Icon } from "../parts/Icon";
import { useTask } from "../parts/useTask";
import { enterSends } from "./keys";

const LONG = 1_200;

export function Asked({ turn }: { turn: Turn }) {
  const [editing, setEditing] = useState(false);
  const [whole, setWhole] = useState(turn.question.length <= LONG);
  const takesMessages = useStore((store) => store.facts?.takes_messages !== false);
  const running = useStore((store) => store.facts?.status === "running");
  const off = useConnection() === "lost" || running;
  if (editing) return <Edit turn={turn} off={off} onClose={() => setEditing(false)} />;
  return (
    <div class="dn-turn dn-user">
      <p dir="auto">{whole ? turn.question : `${turn.question.slice(0, LONG)}…`}</p>
      <div class="dn-acts">
        {!whole && <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" onClick={() => setWhole(true)}>Show all</button>}
        {turn.status !== "sending" && turn.run && takesMessages && (
          <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" disabled={off} onClick={() => setEditing(true)}>
            <Icon name="pencil" small />Edit
          </button>
        )}
        <CopyButton class="dn-btn dn-btn-sm dn-btn-bare" text={() => turn.question}>Copy</CopyButton>
      </div>
    </div>
  );
}

function Edit({ turn, off, onClose }: { turn: Turn; off: boolean; onClose: () => void }) {
  const { client } = useApp();
  const task = useTask();
  const [text, setText] = useState(turn.question);
  const send = () => {
    if (!text.trim() || off) return;
    void task.run(async () => {
      await client.request("resend", { run: turn.run, text: text.trim() });
      onClose();
    });
  };
  return (
    <form class="dn-turn dn-user dn-edit" onSubmit={(event) => (event.preventDefault(), send())}>
      <textarea
        class="dn-input"
        aria-label="Edit your message"
        dir="auto"
        ref={(area) => area?.focus()}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => (event.key === "Escape" ? onClose() : enterSends(event, send))}
      />
      {task.error && <p class="dn-small dn-bad" role="alert">{task.error}</p>}
      <div class="dn-row dn-wrap">
        <span class="dn-small dn-faint">Asks again in a new thread; this one stays.</span>
        <button type="button" class="dn-btn dn-btn-bare" onClick={onClose}>Cancel</button>
        <button type="submit" class="dn-btn dn-btn-solid" aria-busy={task.busy} disabled={task.busy || off || !text.trim()}>Send again</button>
      </div>
    </form>
  );
}
