import { LeaseLost } from "./errors.js";

const PROGRESS_APART_MS = 1000;

/** A task that this worker holds, until the outcome is settled, handed back or known to be lost. Times are those of
 * performance.now(): the clock of this machine need not agree with the daemon's. */
export class Lease {
  state = "held"; // then "ended"; or "expired" (not renewed in time, the daemon decides) or "lost" (the daemon said so), then "ended"
  #abort = new AbortController();
  #progress; // not yet sent
  #progressAt = -Infinity;

  constructor(task, handler, lastsMs) {
    const now = performance.now();
    this.task = task;
    this.handler = handler; // undefined if there is none
    this.until = now + lastsMs;
    this.renewAt = now + lastsMs / 3;
    Object.defineProperties(task, {
      signal: { value: this.#abort.signal },
      progress: { value: (note) => void (this.#progress = String(note)), writable: false },
    });
  }

  get key() {
    return `{"id":"${this.task.id}","version":${this.task.version}`; // by hand: the version may have more digits than a number
  }

  cancel(reason) {
    this.#abort.abort(reason);
  }

  get cancelledBecause() {
    return this.#abort.signal.reason;
  }

  /** Marks it as ended, once: the state before, or undefined if it had ended already. */
  end() {
    const before = this.state;
    this.state = "ended";
    return before === "ended" ? undefined : before;
  }

  /** Cancels the handler. False: there is nothing to lose. */
  lose(to) {
    if (this.state !== "held") return false;
    this.state = to;
    this.cancel(new LeaseLost("the lease of the task is lost"));
    return true;
  }

  isOver(now) {
    return this.state === "held" && now >= this.until;
  }

  /** Whether to renew now: a third of the lease has passed, or there is progress to send. An outcome that waits to be settled
   * still needs its lease. */
  isDue(now) {
    if (this.state === "ended") return now >= this.renewAt;
    const progressDue = this.#progress !== undefined && now >= this.#progressAt + PROGRESS_APART_MS;
    return this.state === "held" && (progressDue || now >= this.renewAt);
  }

  /** The text of a renewal, and the progress in it. */
  renewal(leaseMs, now) {
    const progress = this.#progress;
    if (progress !== undefined) this.#progressAt = now;
    this.#progress = undefined;
    const note = progress === undefined ? "" : `,"progress":${JSON.stringify(progress)}`;
    return { text: `${this.key},"lease_ms":${leaseMs}${note}}`, progress };
  }

  renewed(from, leaseMs) {
    this.until = from + leaseMs;
    this.renewAt = from + leaseMs / 3;
  }

  /** Another try is made then, also for the progress, unless there is newer. */
  notRenewed(tryAt, progress) {
    this.renewAt = tryAt;
    this.#progress ??= progress;
  }
}
