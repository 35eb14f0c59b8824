/** One action of an approval: what it would do, and the ways to decide about it. */

import { useMemo, useRef } from "preact/hooks";

import { Icon } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";
import { ActionFoot } from "./ActionFoot";
import type { Answer } from "./answer";
import { Args, ArgsForm } from "./ArgsForm";
import { Button, useFocusNext, Words } from "./Card";
import { rejection, type ActionDraft, type Decision } from "./decisions";
import { findDiff, readDiff } from "./unified";
import { Diff } from "./Diff";
import { useLocalPreview, usePreview } from "./preview";
import { isWrite, proseOf, titleOf, type Action } from "./requests";
import { fieldsOf, filled } from "./schema";

interface ActionCardProps {
  question: string;
  action: Action;
  index: number;
  count: number;
  draft: ActionDraft;
  answer: Answer;
  /** Whether all others are decided, so that deciding this one sends. */
  isLast: boolean;
  onChange: (changes: Partial<ActionDraft>) => void;
  onDecide: (decision: Decision) => void;
}

export function ActionCard(props: ActionCardProps) {
  const { action, index, count, draft, answer, onChange, onDecide } = props;
  const root = useRef<HTMLDivElement>(null);
  const focusNext = useFocusNext(root);
  const fields = useMemo(() => fieldsOf(action.schema, action.args), [action]);
  const state = useMemo(() => filled(fields, draft.edits), [fields, draft.edits]);
  const isChanged = state.changed.length > 0;
  const isSound = state.problems.size === 0;
  const preview = usePreview(
    props.question,
    index,
    isWrite(action.name) && isChanged && isSound ? state.args : null,
  );
  const local = useLocalPreview(action.name, isWrite(action.name) && isSound && !draft.decision ? state.args : null);
  const description = withLocal(preview.description ?? action.description, local);
  const { verb, object } = titleOf({ ...action, args: isSound ? state.args : action.args, description });

  const decide = (decision: Decision) => {
    focusNext("[data-act=undo]");
    onDecide(decision);
  };
  const open = (what: ActionDraft["open"], focus: string) => {
    focusNext(focus);
    onChange({ open: what });
  };
  return (
    <div
      ref={root}
      class="dn-action"
      role="group"
      aria-label={`Action ${index + 1} of ${count}: ${oneLine(`${verb} ${object}`)}`}
      data-state={draft.decision ? "decided" : undefined}
    >
      {draft.decision ? (
        <DecidedAction
          action={action}
          decision={draft.decision}
          locked={answer.locked}
          onUndo={() => {
            focusNext(".dn-btn-solid");
            onChange({ decision: null });
          }}
        />
      ) : (
        <>
          <Head {...{ verb, object, action, index, description }} />
          <Prose text={proseOf(action, description)} />
          <Content {...{ action, description, draft, fields, state, preview, onChange }} />
          {draft.open === "reject" ? (
            <Words
              label="Why not? The agent reads this."
              hint="A reason is optional"
              verb="Reject"
              value={draft.reason}
              answer={answer}
              onInput={(reason) => onChange({ reason })}
              onSend={() => decide(rejection(draft.reason))}
              onCancel={() => open("", "[data-act=reject]")}
            />
          ) : draft.open === "respond" ? (
            <Words
              label="What should the agent get in place of the result?"
              verb="Answer for the tool"
              needed
              value={draft.reply}
              answer={answer}
              onInput={(reply) => onChange({ reply })}
              onSend={() => decide({ type: "respond", message: draft.reply.trim() })}
              onCancel={() => open("", "[data-act=respond]")}
            />
          ) : (
            <ActionFoot {...props} {...{ state, isChanged, isSound }} onDecide={decide} onOpen={open} />
          )}
        </>
      )}
    </div>
  );
}

/** Puts what this browser knows of its files in the place of what the kernel could only guess. */
function withLocal(description: string, local: string | null): string {
  if (local === null) return description;
  const rest = findDiff(description)?.after ?? "";
  return rest ? `${local}\n\n${rest}` : local;
}

interface HeadProps {
  verb: string;
  object: string;
  action: Action;
  index: number;
  description: string;
}

function Head({ verb, object, action, index, description }: HeadProps) {
  const changes = useMemo(() => readDiff(description), [description]);
  return (
    <div class="dn-action-head">
      <span class="dn-n">{index + 1}</span>
      <span class="dn-strong">{legible(verb)}</span>
      <span
        class={object ? "dn-mono dn-cut" : "dn-mono dn-cut dn-hide-narrow dn-muted"}
        title={legible(object)}
      >
        {legible(object || action.name)}
      </span>
      {changes && (
        <span class="dn-small dn-push dn-action-size">
          <span class="dn-ok">+{changes.added}</span> <span class="dn-bad">−{changes.removed}</span>
        </span>
      )}
    </div>
  );
}

function Prose({ text }: { text: string }) {
  return text ? <p class="dn-action-why">{legible(text)}</p> : null;
}

type ContentProps = Pick<ActionCardProps, "action" | "draft" | "onChange"> & {
  description: string;
  fields: ReturnType<typeof fieldsOf>;
  state: ReturnType<typeof filled>;
  preview: ReturnType<typeof usePreview>;
};

/** The diff of a write, which says it all; else the arguments, which are what will be done. */
function Content({ action, description, draft, fields, state, preview, onChange }: ContentProps) {
  const diff = findDiff(description)?.text;
  // The same element as before is not drawn again, however much is typed below it.
  const shown = useMemo(() => diff !== undefined && <Diff text={diff} />, [diff]);
  const saysItAll = isWrite(action.name) && diff !== undefined;
  const canEdit = action.allowed.includes("edit");
  const hasForm = canEdit && (draft.open === "edit" || !saysItAll);
  return (
    <>
      {hasForm && (
        <div class="dn-action-main">
          <ArgsForm
            fields={fields}
            edits={draft.edits}
            state={state}
            onEdit={(edits) => onChange({ edits })}
          />
        </div>
      )}
      {!canEdit && !saysItAll && (
        <div class="dn-action-main">
          <Args args={action.args} />
        </div>
      )}
      {shown && (
        <div class="dn-action-main" data-stale={preview.pending || undefined}>
          {shown}
        </div>
      )}
      {preview.pending && (
        <p class="dn-action-note" role="status">
          Working out what your edit changes…
        </p>
      )}
      {preview.error && (
        <p class="dn-action-note dn-bad" role="alert">
          The change cannot be shown: {legible(preview.error)}
        </p>
      )}
    </>
  );
}

function DecidedAction({
  action,
  decision,
  locked,
  onUndo,
}: {
  action: Action;
  decision: Decision;
  locked: boolean;
  onUndo: () => void;
}) {
  const isGood = decision.type !== "reject";
  const { object } = titleOf(action);
  const words = "message" in decision && decision.message ? `: “${oneLine(decision.message)}”` : "";
  const verbs = {
    approve: "Approved",
    edit: "Approved with changes",
    reject: "Rejected",
    respond: "Answered for",
  };
  return (
    <div class="dn-decided">
      <span class={isGood ? "dn-ok" : "dn-bad"}>
        <Icon name={isGood ? "check" : "x"} />
      </span>
      <span class="dn-cut">
        {verbs[decision.type]} <bdi class="dn-mono">{legible(object || action.name)}</bdi>
        {words}
        {decision.type === "approve" && decision.always && (
          <>
            , always for <bdi class="dn-mono">{legible(decision.always)}</bdi>
          </>
        )}
      </span>
      <span class="dn-meta">
        <Button name="undo" look="small" locked={locked} onClick={onUndo}>
          Undo
        </Button>
      </span>
    </div>
  );
}
