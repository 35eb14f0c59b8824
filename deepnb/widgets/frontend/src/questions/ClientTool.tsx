/** A tool of the agent that runs on the reader's files, in this browser: what it does, and what it waits for. */

import { useApp, useObserved } from "../app";
import type { QuestionStep } from "../model";
import { legible } from "../parts/legible";
import { useAnswer } from "./answer";
import { Args } from "./ArgsForm";
import { Button, Card, Status } from "./Card";
import type { ClientTool as Question } from "./requests";

const UNAVAILABLE = "The person does not want their files to be used for this.";

export function ClientTool({ step, asked }: { step: QuestionStep; asked: Question }) {
  const { explorer } = useApp();
  const answer = useAnswer(step);
  const problem = useObserved(explorer, ({ problem }) => problem);
  const folder = useObserved(explorer, ({ files }) => files?.serving.waiting.find(({ question }) => question === step.id)?.folder);
  return (
    <Card step={step} icon="monitor" title={folder || problem ? "Waits for the files in your browser" : "At work on the files in your browser"}>
      <div class="dn-ask-body">
        <p role="status">
          {problem ? (
            <>Your files could not be opened: {legible(problem)}</>
          ) : folder ? (
            <>
              The browser asks you before the folder <bdi class="dn-mono">{legible(folder)}</bdi> is read again.
            </>
          ) : (
            <>
              <bdi class="dn-mono">{legible(asked.tool)}</bdi> runs here, and only its result goes to the kernel.
            </>
          )}
        </p>
        <div class="dn-action-main dn-ask-inset">
          <Args args={asked.args} />
        </div>
      </div>
      <div class="dn-ask-foot">
        {folder && (
          <Button look="solid" locked={answer.locked} onClick={() => void explorer.files?.shelf.allowFolder(folder)}>
            Open the folder again
          </Button>
        )}
        {problem && <Button onClick={() => void explorer.open()}>Try again</Button>}
        <Button locked={answer.locked} busy={answer.state === "sending"} onClick={() => answer.send({ error: UNAVAILABLE })}>
          Refuse
        </Button>
        <Status answer={answer} />
      </div>
    </Card>
  );
}
