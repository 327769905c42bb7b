// One run of a worker.
import { setMaxListeners } from "node:events";

import { attemptOf, failed } from "./attempt.js";
import { Stopping, Timeout } from "./errors.js";
import { Holding } from "./holding.js";
import { Lease } from "./lease.js";
import { sleep } from "./pauses.js";
import { Renewals } from "./renewals.js";
import { Settles, settlementOf } from "./settles.js";
import { taskOf } from "./task.js";

const GATHER_MS = 5; // short handlers end together: one request for many instead of many for one
const END_GRACE_MS = 1_000; // from the cancellation of a handler until its task is handed back
const SOONEST_MS = 100; // a daemon does not answer earlier that there is nothing, unless it stops
const FLUSH_MS = 10_000; // for the last outcomes

export class Session {
  holding = new Holding();
  unsettled = 0;
  #background = new AbortController(); // until everything is settled
  #settles;
  #renewals;

  constructor(client, handlers, options) {
    this.client = client;
    this.handlers = handlers;
    this.options = options;
    this.logger = options.logger;
    this.#settles = new Settles(this);
    this.#renewals = new Renewals(this);
    setMaxListeners(0, this.signal); // each request in flight has one
  }

  get signal() {
    return this.#background.signal;
  }

  /** Works until the signal is aborted; resolves when everything is settled. */
  async run(stop) {
    void this.#renewals.run();
    try {
      await this.#leaseUntil(stop);
      await this.#drain();
    } finally {
      this.#background.abort(new Stopping("the worker has stopped"));
    }
  }

  async #leaseUntil(stop) {
    const pauses = this.client.pauses();
    const line = this.client.connection.lineUntil(stop);
    this.signal.addEventListener("abort", () => line?.close());
    for (;;) {
      const room = await this.#room(stop);
      if (stop.aborted) return;
      const sent = performance.now();
      let failure;
      try {
        const leases = await this.#lease(room, line ? { line } : { signal: stop });
        for (const lease of leases) this.#start(lease, stop);
        if (leases.length > 0 || performance.now() - sent >= Math.max(this.options.waitMs / 2, SOONEST_MS)) {
          pauses.reset();
          continue;
        } // otherwise the daemon has answered at once that there is nothing: it stops
      } catch (error) {
        if (stop.aborted) return;
        failure = error;
        this.logger.warn(`easyretry: no tasks can be leased; trying again: ${error.message}`);
      }
      await sleep(pauses.next(failure), stop);
    }
  }

  // How many tasks may be leased: not more than handlers may run, and not too many that wait to be settled.
  async #room(stop) {
    const { concurrency } = this.options;
    const room = () => Math.min(concurrency - this.holding.running, 2 * concurrency - this.holding.leases.size);
    const look = () => this.holding.change(() => {});
    stop.addEventListener("abort", look, { once: true });
    await this.holding.await(() => room() > concurrency / 2 || stop.aborted, GATHER_MS);
    await this.holding.await(() => room() > 0 || stop.aborted);
    stop.removeEventListener("abort", look);
    return room();
  }

  async #lease(most, how) {
    const { leaseMs, waitMs } = this.options;
    const body = JSON.stringify({ handlers: [...this.handlers.keys()], max: most, wait_ms: waitMs, lease_ms: leaseMs });
    const answer = await this.client.connection.ask({ path: "/v1/leases", body, waitMs, ...how });
    if (!Array.isArray(answer.body.tasks)) throw this.client.connection.incomplete(most);
    const now = Date.parse(answer.header("easyretry-time"));
    return answer.body.tasks.map((fields) => {
      // The daemon's two times are of one clock, so another clock here does not matter.
      const shorter = Date.parse(fields.lease_until) - now;
      return new Lease(taskOf(fields), this.handlers.get(fields.handler), shorter > 0 ? Math.min(shorter, leaseMs) : leaseMs);
    });
  }

  // A lease counts from its answer, because only the daemon knows when it was granted; the first renewal, at a third of it, makes
  // up for a slow answer.
  #start(lease, stop) {
    if (!lease.handler) this.fail("the daemon sent a task of a handler that this worker does not have", lease);
    this.holding.change(({ leases }) => leases.add(lease));
    if (!lease.handler || stop.aborted) {
      lease.end();
      this.#settles.settle({ lease, kind: "hand_back" });
      return;
    }
    this.holding.running++;
    void this.#work(lease);
  }

  async #work(lease) {
    const { run, timeoutMs } = lease.handler;
    const timers = timeoutMs ? this.#timers(lease, timeoutMs) : [];
    const attempt = await attemptOf(run, lease.task);
    timers.forEach(clearTimeout);
    this.#ended(lease, attempt);
    this.holding.change((holding) => holding.running--);
  }

  #timers(lease, ms) {
    const why = new Timeout(`the handler of ${lease.task.handler} did not end within ${ms} ms`);
    const give = () => {
      if (lease.state === "held") this.fail(`a handler does not end; its place stays occupied (timeout ${ms} ms)`, lease);
      this.#ended(lease, failed(why));
    };
    return [setTimeout(() => lease.cancel(why), ms), setTimeout(give, ms + END_GRACE_MS)];
  }

  // Settles the lease, once.
  #ended(lease, attempt) {
    const before = lease.end();
    if (before === undefined) return;
    // Only the kind of error: its text may quote arguments. The daemon gets the text.
    if (!attempt.ok) this.logger.info?.(`easyretry: an attempt failed with ${attempt.kind} (${about(lease)})`);
    else if (attempt.leftOut && !lease.handler.inBatches) this.warn(`a result is left out: ${attempt.leftOut}`, lease);
    const settlement = settlementOf(lease, before, attempt);
    if (settlement) this.#settles.settle(settlement);
    else this.holding.change(({ leases }) => leases.delete(lease));
  }

  // Waits for handlers, cancels those that take too long, and hands back what they leave.
  async #drain() {
    const none = () => this.holding.leases.size === 0;
    if (await this.holding.await(none, this.options.drainMs)) return;
    for (const lease of this.holding.leases) if (lease.state !== "ended") lease.cancel(new Stopping("the worker is stopping"));
    await this.holding.await(none, END_GRACE_MS);
    for (const lease of [...this.holding.leases]) this.#leave(lease);
    if (!(await this.holding.await(none, FLUSH_MS))) this.unsettled += this.holding.leases.size;
  }

  #leave(lease) {
    const before = lease.end();
    if (before === "held") {
      this.warn("a handler does not end; its task is handed back", lease);
      this.#settles.settle({ lease, kind: "hand_back" });
    } else if (before) {
      this.holding.change(({ leases }) => leases.delete(lease));
    }
  }

  warn(message, lease) {
    this.logger.warn(`easyretry: ${message} (${about(lease)})`);
  }

  fail(message, lease) {
    this.logger.error(`easyretry: ${message} (${about(lease)})`);
  }
}

// Never arguments, key or result.
function about({ task }) {
  return `task ${task.id}, ${task.handler}, attempt ${task.attempts}`;
}
