/** Keeps mapped files in step: looks when something may have changed, does what is safe, shows what is not. */

import type { Session } from "../explorer";
import type { Mapping, Step } from "../protocol";
import { Carrier, FolderClosedError, seenIn, type Compared } from "./carrying";
import { claim, isLost, onBack, whileClaimed } from "./link";
import { Listeners } from "./listeners";
import { below, hereOf, named } from "./places";
import { FileError, type Choice, type Conflict, type Shelf, type Standing, type Sync, type Transfers, type Undo } from "./types";

/** Milliseconds. */
const SOON = 300; // changes that come together are looked at together
const CALM = 1_000; // while files are on their way, each of which is a change
const GLANCE = 5_000; // real folders do not tell when they change
const LATER = 5_000; // until a page looks again that has left the work to another

const WAITING = "The kernel is not connected. This goes on by itself when it is back.";
const CHANGED = "This has changed meanwhile, so nothing was done. Look at it as it is now, and decide again.";

/** What has failed, and what was on the two sides then. */
interface Failure {
  readonly here: string;
  readonly there: string;
  readonly error: Error;
}

export class StepKeeper implements Sync {
  private readonly carrier: Carrier;
  private readonly listeners = new Listeners();
  private readonly standings = new Map<string, Standing>();
  private readonly found = new Map<string, readonly Conflict[]>();
  private readonly made = new Map<string, Mapping>(); // of which the kernel has not told yet
  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly due = new Map<string, Promise<void>>(); // looks that have not begun
  private readonly held = new Map<string, Failure>(); // what is not to be tried again at once
  private readonly prints = new Map<string, string>();
  private readonly begun = new Map<string, ReadonlySet<string>>(); // what was to be done for a copy when it began
  private shownConflicts: readonly Conflict[] | null = null;
  private known = ""; // how the kernel's side was at the last look
  private isGlancing = false;
  private isClosed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly leave: (() => void)[];

  constructor(
    private readonly session: Session,
    private readonly shelf: Shelf,
    private readonly transfers: Transfers,
  ) {
    this.carrier = new Carrier(session.client, shelf, transfers);
    const glancing = setInterval(() => void this.glance(), GLANCE);
    const seen = () => document.visibilityState === "visible" && this.soon();
    document.addEventListener("visibilitychange", seen);
    this.leave = [
      shelf.subscribe(() => this.soon()),
      session.store.subscribe(() => this.heard()),
      onBack(session.client, () => this.connected()),
      () => clearInterval(glancing),
      () => document.removeEventListener("visibilitychange", seen),
    ];
    this.heard();
  }

  get mappings(): readonly Mapping[] {
    const told = this.session.store.facts?.files?.mappings ?? [];
    for (const { id } of told) this.made.delete(id);
    return this.made.size ? [...told, ...this.made.values()] : told;
  }

  get conflicts(): readonly Conflict[] {
    const ids = new Set(this.mappings.map(({ id }) => id));
    this.shownConflicts ??= [...this.found].flatMap(([id, conflicts]) => (ids.has(id) ? conflicts : []));
    return this.shownConflicts;
  }

  standing(mapping: string): Standing | undefined {
    return this.standings.get(mapping);
  }

  async map(fields: Pick<Mapping, "source" | "target" | "is_folder" | "mode">): Promise<Mapping> {
    const mapping = await this.session.client.request("map_files", { browser: this.shelf.browser, ...fields });
    this.made.set(mapping.id, mapping);
    this.tell();
    void this.look(mapping);
    return mapping;
  }

  async unmap(mapping: string): Promise<void> {
    await this.session.client.request("unmap_files", { mapping });
    for (const known of [this.made, this.found, this.standings, this.begun]) known.delete(mapping);
    this.tell();
  }

  /** As the reader asks for it: what has failed before is tried again. */
  async run(mapping?: string): Promise<void> {
    this.held.clear();
    const chosen = this.mappings.filter(({ id }) => mapping === undefined || id === mapping);
    await Promise.all(chosen.map((each) => this.look(each)));
  }

  /** Does it only if all is as the reader has seen it. Many may be decided one after the other, and looked at once. */
  async decide({ mapping, path, kind, here, there }: Conflict, choice: Choice): Promise<Undo | null> {
    return this.inTurn(mapping.id, async () => {
      try {
        const { steps } = await this.compare(mapping);
        const step = steps.find((each) => each.path === path);
        if (step?.do !== kind || step.here !== here || step.there !== there) throw new FileError(CHANGED, "changed");
        const undo = await this.carrier.settle(mapping, step, choice);
        this.note(mapping, steps.filter((each) => each !== step));
        this.soon();
        return undo && (() => this.inTurn(mapping.id, undo).finally(() => this.soon()));
      } catch (error) {
        await this.bring(mapping);
        throw error;
      }
    });
  }

  subscribe(callback: () => void): () => void {
    return this.listeners.subscribe(callback);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const leave of this.leave) leave();
  }

  // When to look

  private soon(): void {
    if (this.isClosed || !this.mappings.length) return;
    clearTimeout(this.timer);
    const isMoving = this.transfers.list.some(({ state }) => state === "running" || state === "waiting");
    this.timer = setTimeout(() => void Promise.all(this.mappings.map((each) => this.look(each))), isMoving ? CALM : SOON);
  }

  private later(): void {
    setTimeout(() => this.soon(), LATER);
  }

  /** The kernel has told something; most of it has nothing to do with files. */
  private heard(): void {
    const files = this.session.store.facts?.files;
    if (!files) return;
    const known = `${files.version} ${files.mappings.map(({ id, done }) => `${id} ${done}`).join(" ")}`;
    if (known === this.known) return;
    this.known = known;
    this.tell();
    this.soon();
  }

  private connected(): void {
    this.held.clear();
    this.soon();
  }

  /** Looks at real folders, and has the kernel compare only what has changed. */
  private async glance(): Promise<void> {
    if (this.isGlancing || document.visibilityState !== "visible") return;
    this.isGlancing = true;
    try {
      const folders = await this.shelf.folders();
      const isReal = ({ source }: Mapping) => folders.some(({ name }) => below(`/${name}`, source) !== null);
      const mapped = this.mappings.filter((each) => each.browser === this.shelf.browser && !each.done && isReal(each));
      const entries = mapped.length ? await this.shelf.entries() : [];
      for (const mapping of mapped) {
        const print = JSON.stringify(seenIn(mapping, entries).map(({ path, size, modified }) => [path, size, modified]));
        if (this.prints.get(mapping.id) !== print) void this.look(mapping);
        this.prints.set(mapping.id, print);
      }
    } catch {
      // The next look tells what is wrong with the store.
    }
    this.isGlancing = false;
  }

  /** Looks at a mapping when its turn comes; one look is enough for all who want one. */
  private look(mapping: Mapping): Promise<void> {
    const due = this.due.get(mapping.id);
    if (due) return due;
    const work = this.inTurn(mapping.id, () => {
      this.due.delete(mapping.id);
      return this.bring(mapping);
    });
    this.due.set(mapping.id, work);
    return work;
  }

  private inTurn<T>(mapping: string, work: () => Promise<T>): Promise<T> {
    const before = this.turns.get(mapping) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(work);
    this.turns.set(mapping, mine);
    return mine;
  }

  // What to do

  /** Brings the sides into step, as far as nobody has to decide; what goes wrong is told in the standing. */
  private async bring(mapping: Mapping): Promise<void> {
    if (this.isClosed) return;
    if (mapping.browser !== this.shelf.browser) return this.stand(mapping, "elsewhere", "", 0);
    if (this.mappings.some(({ id, done }) => id === mapping.id && done)) return this.rest(mapping);
    if (!this.standings.has(mapping.id)) this.stand(mapping, "working", "", 0);
    try {
      const isMine = await claim(this.session.client, mapping.id);
      await whileClaimed(this.session.client, mapping.id, async () => {
        const compared = await this.compare(mapping);
        this.note(mapping, compared.steps);
        const problems = [...compared.problems, ...(await this.carryOut(mapping, compared, isMine))];
        const isCopied = mapping.mode === "copy" && !problems.length && !this.found.get(mapping.id)?.length;
        if (isCopied && isMine) await this.carrier.finish(mapping);
        this.conclude(mapping, compared, problems, isMine);
      });
    } catch (error) {
      if (isLost(error)) this.later();
      const isWaiting = isLost(error) || error instanceof FolderClosedError;
      const problem = isLost(error) ? WAITING : (error as Error).message;
      this.stand(mapping, isWaiting ? "waiting" : "failed", problem, this.standing(mapping.id)?.files ?? 0);
    }
  }

  /** A copy that was made is not looked at again, whatever becomes of the files. */
  private rest(mapping: Mapping): void {
    this.found.delete(mapping.id);
    const before = this.standing(mapping.id);
    if (before?.state !== "copied") this.stand(mapping, "copied", "", before?.files ?? 0);
  }

  /** A copy is of what was there when it began: what is added while some of it waits is not sent. */
  private async compare(mapping: Mapping): Promise<Compared> {
    const compared = await this.carrier.compare(mapping);
    if (mapping.mode === "sync") return compared;
    const begun = this.begun.get(mapping.id) ?? new Set(compared.steps.map(({ path }) => path));
    if (!compared.problems.length) this.begun.set(mapping.id, begun);
    return { ...compared, steps: compared.steps.filter(({ path }) => begun.has(path)) };
  }

  /** Notes what only the reader can decide. */
  private note(mapping: Mapping, steps: readonly Step[]): void {
    const conflicts = steps.flatMap(({ path, do: kind, here, there, agreed }) =>
      kind === "send" || kind === "take" ? [] : [{ mapping, path, kind, here, there, agreed }],
    );
    this.found.set(mapping.id, conflicts);
    this.tell();
  }

  /** Sends and takes; one that fails does not stop the others. Gives what has gone wrong. */
  private async carryOut(mapping: Mapping, { steps, files }: Compared, isMine: boolean): Promise<string[]> {
    const safe = steps.filter((step) => step.do === "send" || step.do === "take");
    if (safe.length) this.stand(mapping, "working", "", files);
    if (!isMine) return [];
    const done = await Promise.all(safe.map((step) => this.carryOne(mapping, step)));
    if (done.some(isLost)) throw done.find(isLost);
    return done.flatMap((error) => (error ? [error.message] : []));
  }

  /** Gives what has gone wrong; that is not tried again until something else is there, or the reader says so. */
  private async carryOne(mapping: Mapping, step: Step): Promise<Error | null> {
    if (mapping.browser !== this.shelf.browser) return null; // all that was here has been forgotten meanwhile
    const place = `${mapping.id} ${step.path}`;
    const before = this.held.get(place);
    if (before?.here === step.here && before.there === step.there) return before.error;
    try {
      await (step.do === "send" ? this.carrier.send(mapping, step.path, step.there) : this.carrier.take(mapping, step));
      this.held.delete(place);
      return null;
    } catch (error) {
      if (isLost(error)) return error as Error;
      const [name, why] = [named(hereOf(mapping, step.path)), (error as Error).message];
      const told = new Error(why.includes(name) ? why : `${name}: ${why}`);
      this.held.set(place, { here: step.here, there: step.there, error: told });
      if (error instanceof FileError && error.kind === "changed") this.soon();
      return told;
    }
  }

  private conclude(mapping: Mapping, { steps, files }: Compared, problems: readonly string[], isMine: boolean): void {
    const [first = "", ...others] = problems;
    const problem = others.length ? `${first} (and ${others.length} more)` : first;
    const isLeft = !isMine && steps.some((step) => step.do === "send" || step.do === "take");
    if (isLeft) this.later(); // the page that does it may be closed before it is done
    if (problem) this.stand(mapping, "failed", problem, files);
    else if (isLeft) this.stand(mapping, "working", "", files);
    else if (this.found.get(mapping.id)?.length) this.stand(mapping, "conflict", "", files);
    else this.stand(mapping, mapping.mode === "copy" ? "copied" : "in step", "", files);
  }

  private stand(mapping: Mapping, state: Standing["state"], problem: string, files: number): void {
    this.standings.set(mapping.id, { state, problem, at: Date.now(), files });
    this.tell();
  }

  private tell(): void {
    this.shownConflicts = null;
    this.listeners.tell();
  }
}
