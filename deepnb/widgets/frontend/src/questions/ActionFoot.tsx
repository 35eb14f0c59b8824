/** The ways to decide about an action. */

import { counted } from "../parts/format";
import { legible } from "../parts/legible";
import { Always } from "./Always";
import type { Answer } from "./answer";
import { Button, Status } from "./Card";
import { approval, type ActionDraft, type Decision } from "./decisions";
import { choicesFor } from "./patterns";
import { isWrite, type Action } from "./requests";
import type { Filled } from "./schema";
import { findDiff } from "./unified";

interface FootProps {
  action: Action;
  draft: ActionDraft;
  answer: Answer;
  /** Whether all others are decided, so that deciding this one sends. */
  isLast: boolean;
  onChange: (changes: Partial<ActionDraft>) => void;
  onDecide: (decision: Decision) => void;
  state: Filled;
  isChanged: boolean;
  isSound: boolean;
  onOpen: (what: ActionDraft["open"], focus: string) => void;
}

export function ActionFoot({
  action,
  draft,
  answer,
  state,
  isChanged,
  isSound,
  isLast,
  onChange,
  onDecide,
  onOpen,
}: FootProps) {
  const may = (type: Decision["type"]) => action.allowed.includes(type);
  const choices = action.always === null || !may("approve") ? [] : choicesFor(action.always);
  const pattern = draft.pattern ?? choices[0]?.pattern ?? null;
  const isOpen = draft.open === "edit";
  const busy = answer.state === "sending" && isLast;
  const needsChange = !may("approve") && !isChanged;
  const approve = () => onDecide(approval(action, state.args, isChanged, draft.always ? pattern : null));
  return (
    <div class="dn-action-foot">
      {(may("approve") || may("edit")) && (
        <Button
          name="approve"
          look="solid"
          icon="check"
          locked={answer.locked || !isSound || needsChange}
          busy={busy}
          onClick={approve}
        >
          {isChanged ? `Approve with ${counted(state.changed.length, "change")}` : "Approve"}
        </Button>
      )}
      {may("edit") && isWrite(action.name) && findDiff(action.description) && (
        <Button
          name="edit"
          icon={isOpen ? "check" : "pencil"}
          onClick={() => onOpen(isOpen ? "" : "edit", "[data-act=edit]")}
        >
          {isOpen ? "Done editing" : "Edit"}
        </Button>
      )}
      {may("reject") && (
        <Button
          name="reject"
          icon="x"
          locked={answer.locked}
          onClick={() => onOpen("reject", ".dn-ask-words textarea")}
        >
          Reject…
        </Button>
      )}
      {may("respond") && (
        <Button
          name="respond"
          icon="ask"
          locked={answer.locked}
          onClick={() => onOpen("respond", ".dn-ask-words textarea")}
        >
          Answer for it…
        </Button>
      )}
      {pattern !== null && !isChanged && (
        <Always
          choices={choices}
          pattern={pattern}
          checked={draft.always}
          onCheck={(always) => onChange({ always })}
          onChoose={(chosen) => onChange({ pattern: chosen, always: true })}
        />
      )}
      {isLast && <Status answer={answer} problem={problemOf(state)} />}
      {!isLast && problemOf(state) && <p class="dn-ask-refused">{problemOf(state)}</p>}
    </div>
  );
}

function problemOf({ problems }: Filled): string {
  const [first] = problems;
  return first ? `${legible(first[0])}: ${first[1]}` : "";
}
