import { LeaseLost, mayPass, Refusal, Stopping } from "./errors.js";
import { sleep } from "./pauses.js";
import { apply } from "./renewals.js";

const MOST_IN_A_REQUEST = 1000;
const MOST_ALONE = 16;

/** Sends outcomes. Tasks handed back, and successes of handlers with `inBatches`, go in batches: what comes while one batch is on
 * its way is the next one. The others go alone, a few at a time, because the daemon judges them: by `success_when`, and by the
 * policy. */
export class Settles {
  #session;
  #waiting = []; // for the next batch
  #sending = false;
  #alone = []; // waiting for a place
  #inFlight = 0;

  constructor(session) {
    this.#session = session;
  }

  /** `{ lease, kind, fields }`: finish and hand_back go in a batch; done and fail alone, with the texts of their fields. */
  settle(one) {
    if (one.kind === "done" || one.kind === "fail") {
      this.#alone.push(one);
      this.#nextAlone();
      return;
    }
    this.#waiting.push(one);
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => void this.#sendBatches()); // what ends in this turn goes in one batch
  }

  async #sendBatches() {
    while (this.#waiting.length > 0) await this.#sendBatch(this.#waiting.splice(0, MOST_IN_A_REQUEST));
    this.#sending = false;
  }

  async #sendBatch(batch) {
    const { client, signal } = this.#session;
    const body = `{"tasks":[${batch.map(({ lease, kind }) => `${lease.key},"kind":"${kind}"}`).join(",")}]}`;
    const failure = await this.#untilAnswered(batch.length, async (tries) => {
      const applied = await apply(client, { path: "/v1/leases/settle", body, signal }, batch.length);
      applied.forEach((was, i) => was || this.#warnLost(batch[i], tries));
    });
    if (failure) for (const one of batch) this.#giveUp(one, failure);
    this.#forget(batch);
  }

  #nextAlone() {
    while (this.#inFlight < MOST_ALONE && this.#alone.length > 0) {
      this.#inFlight++;
      void this.#sendAlone(this.#alone.shift()).finally(() => {
        this.#inFlight--;
        this.#nextAlone();
      });
    }
  }

  async #sendAlone(one) {
    let failure = await this.#untilAnswered(1, (tries) => this.#ask(one, tries));
    if (failure instanceof Refusal && [400, 413, 422].includes(failure.status)) {
      this.#session.warn(`its result or error text was refused, and is left out: ${failure.message}`, one.lease);
      const { result, error, ...bare } = one.fields;
      failure = await this.#untilAnswered(1, (tries) => this.#ask({ ...one, fields: bare }, tries));
    }
    if (failure) this.#giveUp(one, failure);
    this.#forget([one]);
  }

  async #ask(one, tries) {
    const { task } = one.lease;
    const fields = Object.entries(one.fields).map(([name, text]) => `,"${name}":${text}`);
    const body = `{"version":${task.version}${fields.join("")}}`;
    const { client, signal } = this.#session;
    try {
      await client.connection.ask({ path: `/v1/leases/${task.id}/${one.kind}`, body, signal });
    } catch (error) {
      if (error.code !== "lease_lost") throw error;
      this.#warnLost(one, tries);
    }
  }

  // Repeats until the daemon has decided, because an outcome that is not sent means that the work is done again. Leases are
  // renewed meanwhile. A refused token is no decision: it may be replaced. Returns the error, if it was refused.
  async #untilAnswered(tasks, send) {
    const { client, signal, logger } = this.#session;
    const pauses = client.pauses();
    for (let tries = 1; ; tries++) {
      try {
        await send(tries);
        return undefined;
      } catch (error) {
        const again = mayPass(error) || error?.status === 401 || error?.status === 403;
        if (!again || signal.aborted) return error;
        logger.warn(`easyretry: ${tasks} outcomes cannot be sent; trying again: ${error.message}`);
        await sleep(pauses.next(error), signal);
      }
    }
  }

  // After a repetition, the lease may be gone because the first request was carried out.
  #warnLost(one, tries) {
    if (tries === 1) this.#session.warn("the lease was lost before the outcome arrived; nothing was changed", one.lease);
  }

  #giveUp(one, error) {
    this.#session.unsettled++;
    this.#session.fail(`an outcome was not accepted; the task runs again when its lease has expired: ${error.message}`, one.lease);
  }

  #forget(settled) {
    this.#session.holding.change(({ leases }) => settled.forEach(({ lease }) => leases.delete(lease)));
  }
}

/** What to send, or undefined if nothing may be sent. */
export function settlementOf(lease, before, attempt) {
  if (before === "lost") return undefined;
  if (attempt.ok && lease.handler.inBatches) return { lease, kind: "finish" };
  if (attempt.ok) return { lease, kind: "done", fields: attempt.result === undefined ? {} : { result: attempt.result } };
  if (before === "expired" || lease.cancelledBecause instanceof LeaseLost) return undefined; // the error is that of the cancelled handler
  if (lease.cancelledBecause instanceof Stopping) return { lease, kind: "hand_back" };
  const fields = { error: JSON.stringify(attempt.error) };
  if (attempt.giveUp) fields.give_up = "true";
  else if (attempt.retryAfterMs !== undefined) fields.retry_after_ms = String(attempt.retryAfterMs);
  return { lease, kind: "fail", fields };
}
