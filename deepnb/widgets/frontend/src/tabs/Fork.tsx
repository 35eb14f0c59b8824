/** A fork: another thread that begins after one of this thread's steps. */

import { useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import { enterSends } from "../chat/keys";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { useTask } from "../parts/useTask";

interface ForkButtonProps {
  /** The graph's step that the fork begins after. */
  step: number;
  class?: string;
}

export function ForkButton({ step, class: style = "dn-btn dn-btn-sm" }: ForkButtonProps) {
  return (
    <Popover
      class={`${style} dn-fork`}
      title="Fork from here"
      align="end"
      button={
        <>
          <Icon name="fork" small />
          Fork from here
        </>
      }
    >
      {(close) => <ForkForm step={step} onClose={close} />}
    </Popover>
  );
}

/** Says what a fork takes along and what it cannot take back, before it is made. */
export function ForkForm({ step, onClose }: { step: number; onClose: () => void }) {
  const { client } = useApp();
  const lost = useConnection() === "lost";
  const running = useStore((store) => store.facts?.status === "running");
  const [text, setText] = useState("");
  const task = useTask();
  const said = text.trim();
  const fork = () =>
    task.run(async () => {
      await client.request("fork", { step, text: said || null });
      onClose();
    });
  return (
    <form
      class="dn-pop-body dn-fork-form"
      onSubmit={(event) => {
        event.preventDefault();
        void fork();
      }}
    >
      <p class="dn-strong">A new thread that begins here</p>
      <ul class="dn-small dn-muted">
        <li>
          <span class="dn-ok">
            <Icon name="check" />
          </span>
          Takes along what came before, with the agent’s notes
        </li>
        <li>
          <Icon name="info" />
          Files in the workspace stay as they are now
        </li>
      </ul>
      <textarea
        class="dn-input"
        rows={1}
        data-first
        aria-label="Ask something else there"
        placeholder="Ask something else there"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => enterSends(event, () => said && !running && !lost && void fork())}
      />
      {running && (
        <p class="dn-small dn-muted">A thread cannot be forked while it runs. Wait, or stop it first.</p>
      )}
      {task.error && (
        <p class="dn-small dn-bad" role="alert">
          {task.error}
        </p>
      )}
      <div class="dn-row">
        <button
          type="submit"
          class="dn-btn dn-btn-solid"
          aria-busy={task.busy}
          disabled={task.busy || running || lost}
        >
          <Icon name="fork" />
          {said ? "Fork and ask" : "Fork"}
        </button>
        <button type="button" class="dn-btn dn-btn-bare" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
