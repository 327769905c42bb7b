import { sleep } from "./pauses.js";

const TICK_MS = 100;
const MOST_IN_A_REQUEST = 1000;

/** Keeps the leases of a session, all in one request at a time. */
export class Renewals {
  #session;
  #pauses;

  constructor(session) {
    this.#session = session;
    this.#pauses = session.client.pauses();
  }

  /** Until the session's signal is aborted. An idle worker sleeps. */
  async run() {
    const { holding, signal, options } = this.#session;
    signal.addEventListener("abort", () => holding.change(() => {}));
    for (;;) {
      await holding.await(() => holding.leases.size > 0 || signal.aborted);
      await sleep(Math.min(TICK_MS, options.leaseMs / 12), signal);
      if (signal.aborted) return;
      await this.#tick();
    }
  }

  async #tick() {
    const now = performance.now();
    const due = [];
    for (const lease of this.#session.holding.leases) {
      if (lease.isOver(now) && lease.lose("expired")) {
        this.#session.warn("the lease could not be renewed in time; its handler is cancelled", lease);
      }
      if (due.length < MOST_IN_A_REQUEST && lease.isDue(now)) due.push(lease);
    }
    if (due.length > 0) await this.#renew(due);
  }

  async #renew(due) {
    const { client, options, signal } = this.#session;
    const sent = performance.now();
    const left = due.map(({ until }) => until - sent).filter((ms) => ms > 0);
    const timeoutMs = Math.min(options.leaseMs / 3, ...left); // handlers are cancelled in time, even if no answer comes
    const wanted = due.map((lease) => lease.renewal(options.leaseMs, sent));
    try {
      const body = `{"tasks":[${wanted.map(({ text }) => text).join(",")}]}`;
      const applied = await apply(client, { path: "/v1/leases/renew", body, timeoutMs, signal }, due.length);
      this.#pauses.reset();
      due.forEach((lease, i) => this.#renewed(lease, applied[i], sent));
    } catch (error) {
      if (signal.aborted) return;
      const again = performance.now() + Math.min(this.#pauses.next(error), options.leaseMs / 6);
      due.forEach((lease, i) => lease.notRenewed(again, wanted[i].progress));
      this.#session.logger.warn(`easyretry: ${due.length} leases cannot be renewed; trying again: ${error.message}`);
    }
  }

  #renewed(lease, applied, sent) {
    if (!applied && lease.lose("lost")) this.#session.warn("the lease is lost; its handler is cancelled", lease);
    else lease.renewed(sent, this.#session.options.leaseMs); // if it has ended, its settlement will tell
  }
}

/** Asks for a change of many leases: for each, whether it was applied. */
export async function apply(client, request, number) {
  const { body } = await client.connection.ask(request);
  const { applied } = body;
  if (applied?.length !== number || !applied.every((one) => typeof one === "boolean")) throw client.connection.incomplete(number);
  return applied;
}
