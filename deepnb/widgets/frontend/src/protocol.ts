/* Made by `make protocol` from widgets/protocol.py: change it there. */

export type JsonValue = unknown;

/**
 * Everything, for the browser's types to be made from.
 */
export interface Wire {
  request:
    | Hello
    | Pull
    | Ask
    | Steer
    | Unqueue
    | Respond
    | Preview
    | Stop
    | Resume
    | Resend
    | Fork
    | EditTodos
    | Settle
    | SetModel
    | Threads
    | OpenThread
    | NewThread
    | Export
    | ExportReport
    | Transcribe;
  reply: Reply;
  push: Push;
  previewed: Previewed;
  listed: Listed;
  exported: Exported;
  download: Download;
}
/**
 * A view has come up; answered with `News` from the beginning.
 */
export interface Hello {
  id: string;
  view: string;
  thread: string;
  type: "hello";
  version: number;
  host: string;
}
/**
 * Asks for what has happened after `since`; answered with `News`.
 *
 * `replies_since` is the number of the last late reply that has arrived, and `push` whether
 * anything ever came unasked, which `deepnb.doctor` likes to know.
 */
export interface Pull {
  id: string;
  view: string;
  thread: string;
  type: "pull";
  since: number;
  replies_since: number;
  push: boolean;
}
/**
 * Asks the agent; queued if it is at work.
 */
export interface Ask {
  id: string;
  view: string;
  thread: string;
  type: "ask";
  text: string;
}
/**
 * Tells the run under way something; refused if that is another one by now.
 */
export interface Steer {
  id: string;
  view: string;
  thread: string;
  type: "steer";
  text: string;
  run: string | null;
}
/**
 * Takes back what was asked and has not begun.
 */
export interface Unqueue {
  id: string;
  view: string;
  thread: string;
  type: "unqueue";
  run: string;
}
/**
 * Answers a question, by its id.
 */
export interface Respond {
  id: string;
  view: string;
  thread: string;
  type: "respond";
  question: string;
  answer: JsonValue;
}
/**
 * Asks what an action would do with other arguments; answered with `Previewed`.
 */
export interface Preview {
  id: string;
  view: string;
  thread: string;
  type: "preview";
  question: string;
  action: number;
  args: {
    [k: string]: JsonValue;
  };
}
/**
 * Stops the run, or one subagent by the id of its call; refused if it is another run by now.
 */
export interface Stop {
  id: string;
  view: string;
  thread: string;
  type: "stop";
  run: string | null;
  subagent?: string | null;
}
/**
 * Goes on with a run that has failed or was cut off.
 */
export interface Resume {
  id: string;
  view: string;
  thread: string;
  type: "resume";
}
/**
 * Asks again, in a branch that begins where a run did: a retry, or an edited question.
 */
export interface Resend {
  id: string;
  view: string;
  thread: string;
  type: "resend";
  run: string;
  text: string;
}
/**
 * Branches off at a step, and asks there if there is a text; the panel shows the branch.
 */
export interface Fork {
  id: string;
  view: string;
  thread: string;
  type: "fork";
  step?: number | null;
  text?: string | null;
}
/**
 * Replaces the todo list; refused if the agent has changed it after the event `seen`.
 */
export interface EditTodos {
  id: string;
  view: string;
  thread: string;
  type: "edit_todos";
  todos: WireTodo[];
  seen: number;
}
/**
 * One todo of a list that a person has edited.
 */
export interface WireTodo {
  content: string;
  status: "pending" | "in_progress" | "completed";
}
/**
 * Says that the person has checked a claim of a run's report themselves, or takes that back.
 *
 * An empty note leaves the one that they have made before.
 */
export interface Settle {
  id: string;
  view: string;
  thread: string;
  type: "settle";
  run: string;
  citation: string;
  note: string;
  checked: boolean;
}
/**
 * Has another model answer from now on.
 */
export interface SetModel {
  id: string;
  view: string;
  thread: string;
  type: "set_model";
  spec: string;
}
/**
 * Asks for the threads of the workspace; answered with `Listed`.
 */
export interface Threads {
  id: string;
  view: string;
  thread: string;
  type: "threads";
}
/**
 * Has the panel show another thread.
 */
export interface OpenThread {
  id: string;
  view: string;
  thread: string;
  type: "open_thread";
  name: string;
}
/**
 * Has the panel show a thread that is begun now.
 */
export interface NewThread {
  id: string;
  view: string;
  thread: string;
  type: "new_thread";
}
/**
 * Asks for the conversation as a text; answered with `Exported`.
 */
export interface Export {
  id: string;
  view: string;
  thread: string;
  type: "export";
  format: "md" | "html";
}
/**
 * Asks for a run's report as a file; answered with `Download`.
 */
export interface ExportReport {
  id: string;
  view: string;
  thread: string;
  type: "export_report";
  run: string;
  format: "md" | "html" | "docx" | "ipynb" | "bib";
}
/**
 * Asks for what a notebook keeps beside a panel; answered with `Exported`.
 */
export interface Transcribe {
  id: string;
  view: string;
  thread: string;
  type: "transcribe";
  panel: string;
}
/**
 * The answer to a request.
 *
 * `error` is null if it was carried out. `later` is true if that takes a while: then another
 * reply follows, by itself or with news, and `number` counts those.
 */
export interface Reply {
  type: "reply";
  id: string;
  view: string;
  later: boolean;
  number: number;
  result: unknown;
  error: Refusal | null;
}
/**
 * Why a request was not carried out; `kind` is the name of an error of `deepnb.errors`.
 */
export interface Refusal {
  kind: string;
  text: string;
}
/**
 * News that nobody has asked for.
 */
export interface Push {
  type: "push";
  news: News;
}
/**
 * What has happened after the event `after`, up to `last`; `more` if there is more to pull.
 *
 * What is told by a later event of the same news is left out, so numbers may have gaps. `facts`
 * are null if they are what they were.
 */
export interface News {
  thread: string;
  after: number;
  last: number;
  more: boolean;
  events: WireEvent[];
  facts: Facts | null;
  replies: Reply[];
}
/**
 * An `Event`; what is empty is left out. `line` says in one plain line what happened.
 */
export interface WireEvent {
  seq: number;
  time: number;
  kind:
    | "queued"
    | "run_started"
    | "message"
    | "token"
    | "reasoning"
    | "tool_call"
    | "tool_result"
    | "node"
    | "todos"
    | "file"
    | "source"
    | "report"
    | "settled"
    | "subagent_started"
    | "subagent_ended"
    | "interrupt_opened"
    | "interrupt_closed"
    | "usage"
    | "warning"
    | "error"
    | "run_ended";
  run?: string;
  agent?: string;
  parent?: string;
  call?: string;
  node?: string;
  step?: number;
  name?: string;
  line?: string;
  data: {
    [k: string]: unknown;
  };
}
/**
 * How the session stands, beside its events.
 *
 * `opening` is Python that opens the thread in a new kernel; empty where nobody can tell.
 * `knowledge` is null when nothing is done to the documents that it searches, if there are any.
 */
export interface Facts {
  version: number;
  agent: string;
  thread: string;
  title: string;
  workspace: string;
  opening: string;
  forked_from: string;
  status: "idle" | "running" | "waiting" | "stopped" | "failed" | "done" | "closed";
  waiting_for: string;
  can_resume: boolean;
  model: Model | null;
  models: ModelOption[];
  knowledge: KnowledgeWork | null;
  budget: Limit[];
  starters: Starter[];
  actions: QuickAction[];
  takes_messages: boolean;
  has_todos: boolean;
  kept: boolean;
}
/**
 * The model that answers, how it was chosen, and whether it can.
 *
 * `progress` is a share of 1 while it loads, null if nobody knows. `offline` is deepnb's own,
 * which quotes and needs nothing.
 */
export interface Model {
  name: string;
  rule: string;
  state: "offline" | "ready" | "loading" | "failed";
  detail: string;
  progress: number | null;
  can_switch: boolean;
}
/**
 * A model that could be switched to.
 */
export interface ModelOption {
  spec: string;
  rule: string;
}
/**
 * What is being done to the documents that are searched; `total` is 0 if nobody knows.
 */
export interface KnowledgeWork {
  phase: "reading" | "waiting" | "loading" | "embedding";
  done: number;
  total: number;
}
/**
 * One limit of the session's budget.
 */
export interface Limit {
  unit: "calls" | "tokens" | "usd";
  limit: number;
  spent: number;
}
/**
 * A card in the empty state; a click puts `text` into the input.
 */
export interface Starter {
  title: string;
  text: string;
}
/**
 * A chip under the input; a click asks `text`.
 */
export interface QuickAction {
  label: string;
  text: string;
}
/**
 * What an action would do, in the form of an action's description.
 */
export interface Previewed {
  description: string;
}
/**
 * The threads of the workspace, the latest first.
 */
export interface Listed {
  threads: Thread[];
}
/**
 * A thread of the workspace.
 */
export interface Thread {
  name: string;
  title: string;
  status: string;
  agent: string;
  runs: number;
  updated: number | null;
  forked_from: string;
  can_open: boolean;
}
/**
 * The conversation as a text.
 */
export interface Exported {
  name: string;
  text: string;
}
/**
 * A file to be downloaded; its bytes are in base64, for messages are text.
 */
export interface Download {
  name: string;
  content: string;
}
