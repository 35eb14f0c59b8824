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
    | Transcribe
    | Fund
    | SettlePayment
    | RevealRefund
    | LoadQr
    | LoadFiles
    | Claim
    | ClientAnswer
    | ListWorkspace
    | MakeFolder
    | MoveFile
    | DeleteFile
    | RestoreFile
    | BeginUpload
    | SendFiles
    | UploadChunk
    | EndUpload
    | CancelUpload
    | DownloadChunk
    | MapFiles
    | UnmapFiles
    | CompareFiles
    | AgreeFile
    | FinishCopy
    | FetchPage;
  reply: Reply;
  push: Push;
  previewed: Previewed;
  listed: Listed;
  exported: Exported;
  download: Download;
  money: MoneyWire;
  files: FileWire;
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
 * Pays a token in, and answers the question that waits for money, if one is open.
 */
export interface Fund {
  id: string;
  view: string;
  thread: string;
  type: "fund";
  token: string;
}
/**
 * Ends the account: what was not spent becomes a refund, which the facts tell of.
 */
export interface SettlePayment {
  id: string;
  view: string;
  thread: string;
  type: "settle_payment";
}
/**
 * Asks for the money that was given back; answered with `Revealed`.
 */
export interface RevealRefund {
  id: string;
  view: string;
  thread: string;
  type: "reveal_refund";
}
/**
 * Asks for the code that draws QR codes; answered with `Code`.
 */
export interface LoadQr {
  id: string;
  view: string;
  thread: string;
  type: "load_qr";
}
/**
 * Asks for the code of the file explorer, which a panel loads when it is needed.
 */
export interface LoadFiles {
  id: string;
  view: string;
  thread: string;
  type: "load_files";
}
/**
 * Says that a page is about to run a client's tool or to sync; answered with `Claimed`.
 *
 * Two pages may show one session, and only one of them is to do what has to be done. `what` is the
 * id of the question or of the mapping.
 */
export interface Claim {
  id: string;
  view: string;
  thread: string;
  type: "claim";
  what: string;
}
/**
 * Answers a client's tool from the files in the browser, which is kept as a disclosure.
 */
export interface ClientAnswer {
  id: string;
  view: string;
  thread: string;
  type: "client_answer";
  question: string;
  answer: {
    [k: string]: JsonValue;
  };
}
/**
 * Asks for all that is in the workspace; answered with `WorkspaceFiles`.
 */
export interface ListWorkspace {
  id: string;
  view: string;
  thread: string;
  type: "list_workspace";
}
/**
 * Makes a folder in the workspace.
 */
export interface MakeFolder {
  id: string;
  view: string;
  thread: string;
  type: "make_folder";
  path: string;
}
/**
 * Moves or renames in the workspace; refused where something is in the way.
 */
export interface MoveFile {
  id: string;
  view: string;
  thread: string;
  type: "move_file";
  path: string;
  to: string;
}
/**
 * Deletes a file or folder of the workspace; answered with `Deleted`, which can be undone.
 *
 * If `expects` is given, only what has this hash is deleted.
 */
export interface DeleteFile {
  id: string;
  view: string;
  thread: string;
  type: "delete_file";
  path: string;
  expects?: string | null;
}
/**
 * Undoes a deletion; refused where something else is there by now.
 */
export interface RestoreFile {
  id: string;
  view: string;
  thread: string;
  type: "restore_file";
  deleted: string;
}
/**
 * Begins to send a file, or goes on where it was cut off; answered with `Upload`.
 *
 * `mark` is the same for the same content of the same file: so an upload is found again.
 * `expects` is what the page believes to be at the place; if it is wrong, nothing is overwritten.
 * For `index`, `path` is the file's own in the browser, and it goes into the index alone.
 */
export interface BeginUpload {
  id: string;
  view: string;
  thread: string;
  type: "begin_upload";
  purpose: "copy" | "sync" | "index";
  path: string;
  size: number;
  mark: string;
  expects: string | "";
  mapping?: string | null;
  source: string;
}
/**
 * Sends small files whole; answered with `Sent`.
 *
 * To say hundreds of files in three messages each takes a server ten times as long.
 */
export interface SendFiles {
  id: string;
  view: string;
  thread: string;
  type: "send_files";
  /**
   * @maxItems 64
   */
  files: SmallFile[];
}
/**
 * A file that is sent whole: what `BeginUpload` says of it, and its content.
 */
export interface SmallFile {
  purpose: "copy" | "sync" | "index";
  path: string;
  size: number;
  expects: string | "";
  mapping?: string | null;
  source: string;
  sha256: string;
  data: string;
}
/**
 * The bytes from `offset` on, beside the message or in `data`; answered with `Received`.
 */
export interface UploadChunk {
  id: string;
  view: string;
  thread: string;
  type: "upload_chunk";
  upload: string;
  offset: number;
  data?: string | null;
}
/**
 * All is sent, and this is its hash; answered with `Stored`.
 */
export interface EndUpload {
  id: string;
  view: string;
  thread: string;
  type: "end_upload";
  upload: string;
  sha256: string;
}
/**
 * Gives up an upload, and what has arrived of it.
 */
export interface CancelUpload {
  id: string;
  view: string;
  thread: string;
  type: "cancel_upload";
  upload: string;
}
/**
 * Asks for a part of a file of the workspace; answered with `Chunk`.
 *
 * `seen` is the `version` of the part before, so that no file is put together from two.
 */
export interface DownloadChunk {
  id: string;
  view: string;
  thread: string;
  type: "download_chunk";
  path: string;
  offset: number;
  length: number;
  seen: string;
  as_text: boolean;
}
/**
 * Ties a file or folder of the browser to a place in the workspace; answered with `Mapping`.
 */
export interface MapFiles {
  id: string;
  view: string;
  thread: string;
  type: "map_files";
  browser: string;
  source: string;
  target: string;
  is_folder: boolean;
  mode: "copy" | "sync";
}
/**
 * Unties them; both sides keep their files.
 */
export interface UnmapFiles {
  id: string;
  view: string;
  thread: string;
  type: "unmap_files";
  mapping: string;
}
/**
 * Asks what has to be done to bring a mapping's sides into step; answered with `Comparison`.
 */
export interface CompareFiles {
  id: string;
  view: string;
  thread: string;
  type: "compare_files";
  mapping: string;
  browser: string;
  /**
   * @maxItems 50000
   */
  files: SeenFile[];
}
/**
 * A mapped file as the browser has it; `path` is below the mapping's source, "" for itself.
 */
export interface SeenFile {
  path: string;
  size: number;
  sha256: string;
}
/**
 * Says that both sides of a file are the same now, or (`sha256` is empty) that none is left.
 */
export interface AgreeFile {
  id: string;
  view: string;
  thread: string;
  type: "agree_file";
  mapping: string;
  path: string;
  sha256: string | "";
}
/**
 * Says that all of a copy is there: what is added to its source later is not sent.
 */
export interface FinishCopy {
  id: string;
  view: string;
  thread: string;
  type: "finish_copy";
  mapping: string;
}
/**
 * Has the kernel fetch a page into the workspace; answered with `Stored`.
 */
export interface FetchPage {
  id: string;
  view: string;
  thread: string;
  type: "fetch_page";
  url: string;
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
    | "disclosed"
    | "payment"
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
 * `knowledge` is null when nothing is done to the documents that it searches, if there are any;
 * `files` is while the session is closed, and `payment` also if nobody pays for it.
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
  files: FileFacts | null;
  budget: Limit[];
  payment: PaymentFacts | null;
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
 * How files stand: changes of the workspace are counted in `version`.
 *
 * `shelf` names the browser's store of this workspace. `agent_reads` says whether the agent can
 * reach the browser's files by itself.
 */
export interface FileFacts {
  shelf: string;
  version: number;
  mappings: Mapping[];
  agent_reads: boolean;
  can_index: boolean;
}
/**
 * What ties a place in a browser to a place in the workspace; a copy may be `done`.
 */
export interface Mapping {
  id: string;
  browser: string;
  source: string;
  target: string;
  is_folder: boolean;
  mode: "copy" | "sync";
  done: boolean;
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
 * How a session is paid for, in sat.
 *
 * `pubkey` is the key to lock tokens to, so that nobody else can spend them.
 */
export interface PaymentFacts {
  price: number;
  balance: number;
  spent: number;
  mints: string[];
  pubkey: string;
  status: "unfunded" | "active" | "exhausted" | "settled";
  refund: RefundFacts | null;
}
/**
 * What came of settling, in sat. The money itself is told to whoever asks for it.
 *
 * `waiting` is what a mint has to be asked for again, and `lost` what its payer spent elsewhere.
 */
export interface RefundFacts {
  handle: string;
  amount: number;
  kept: number;
  fee: number;
  lost: number;
  waiting: number;
  claimed: boolean;
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
/**
 * Everything about money, for the browser's types to be made from.
 */
export interface MoneyWire {
  revealed: Revealed;
  code: Code;
}
/**
 * A refund's tokens: one for each that was paid in and not used up.
 */
export interface Revealed {
  tokens: string[];
}
/**
 * A part of the panel that is loaded when it is needed.
 */
export interface Code {
  code: string;
}
/**
 * Everything about files, for the browser's types to be made from.
 */
export interface FileWire {
  code: Code;
  claimed: Claimed;
  workspace_files: WorkspaceFiles;
  deleted: Deleted;
  upload: Upload;
  received: Received;
  stored: Stored;
  sent: Sent;
  chunk: Chunk;
  mapping: Mapping;
  comparison: Comparison;
}
/**
 * Whether the page is to do it; if not, another one does, which has to claim it again soon.
 */
export interface Claimed {
  granted: boolean;
}
/**
 * What is in the workspace, sorted by path; not all of it if it is `truncated`.
 */
export interface WorkspaceFiles {
  files: WorkspaceFile[];
  truncated: boolean;
}
/**
 * A file or folder of the workspace; `modified` is in seconds since 1970.
 */
export interface WorkspaceFile {
  path: string;
  is_dir: boolean;
  size: number;
  modified: number;
}
/**
 * What `restore_file` takes to undo a deletion.
 */
export interface Deleted {
  deleted: string;
}
/**
 * An upload that was begun, how much of it is here, and if bytes beside messages arrive.
 */
export interface Upload {
  upload: string;
  received: number;
  buffers: boolean;
}
/**
 * How many bytes of an upload have arrived, in their order.
 */
export interface Received {
  received: number;
}
/**
 * A file is where it belongs.
 */
export interface Stored {
  path: string;
  size: number;
  sha256: string;
}
/**
 * What has become of each file, in the order in which they were sent.
 */
export interface Sent {
  files: (Stored | Unsent)[];
}
/**
 * Why a file was not stored; `kind` is the name of an error of `deepnb.errors`.
 */
export interface Unsent {
  kind: string;
  text: string;
}
/**
 * A part of a file: its bytes are beside the message, or in `data` as base64.
 */
export interface Chunk {
  size: number;
  modified: number;
  version: string;
  data?: string;
}
/**
 * All that has to be done, and how many files need nothing; `unusable` ones say why.
 */
export interface Comparison {
  steps: Step[];
  same: number;
  unusable: string[];
}
/**
 * What has to be done to one file of a mapping.
 *
 * `send` it to the workspace, `take` it from there, or ask the person: `conflict` where both sides
 * have changed, `gone_here` where the browser's was deleted, `gone_there` the workspace's.
 * `here` and `there` are hashes, empty where nothing is; `agreed` is what both had last.
 */
export interface Step {
  path: string;
  do: "send" | "take" | "conflict" | "gone_here" | "gone_there";
  here: string;
  there: string;
  agreed: string;
  size: number;
}
