import { attemptOf, failed } from "./attempt.js";
import { EasyRetryError } from "./errors.js";
import { checkedTimer } from "./pauses.js";
import { Session } from "./session.js";

const RANGES = { concurrency: [1, 1000], leaseMs: [500, 86_400_000], waitMs: [0, 60_000], drainMs: [0, 86_400_000] };

/** Leases tasks and runs their handlers. */
export class Worker {
  #client;
  #options;
  #handlers = new Map();
  #stop = new AbortController();
  #running;

  constructor(client, { concurrency = 10, leaseMs = 30_000, waitMs = 30_000, drainMs = 20_000, logger = console } = {}) {
    this.#client = client;
    this.#options = { concurrency, leaseMs, waitMs, drainMs, logger };
    for (const [name, [low, high]] of Object.entries(RANGES)) {
      const value = this.#options[name];
      if (Number.isInteger(value) && value >= low && value <= high) continue;
      throw new RangeError(`${name} is ${value}; use a whole number from ${low} to ${high}`);
    }
  }

  /** Sets the handler of tasks with this name. Call it before run(). */
  handle(name, run, { inBatches = false, timeoutMs } = {}) {
    if (typeof name !== "string" || !name || typeof run !== "function") throw new TypeError("a handler needs a name and a function");
    if (this.#handlers.has(name)) throw new TypeError(`${name} has a handler already`);
    if (timeoutMs !== undefined) checkedTimer("timeoutMs", timeoutMs);
    this.#handlers.set(name, { run, inBatches, timeoutMs });
    return this;
  }

  /** Works until stop() is called; resolves when everything is settled. A daemon that is away, or refuses the token, is logged and
   * asked again. Rejects if outcomes could not be sent. */
  run() {
    if (this.#handlers.size === 0) throw new TypeError("the worker has no handlers; call handle() before run()");
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run() {
    const session = new Session(this.#client, this.#handlers, this.#options);
    await session.run(this.#stop.signal);
    if (session.unsettled === 0) return;
    throw new EasyRetryError(`${session.unsettled} outcomes were not accepted by the daemon; these tasks run again when their leases have expired`);
  }

  /** Leases no more, lets handlers finish for drainMs, and hands back the rest. Resolves or rejects as run() does. */
  async stop() {
    this.#stop.abort();
    await this.#running;
  }

  /** Runs the handler of a task by hand, without a daemon: for tests. */
  perform(task) {
    const handler = this.#handlers.get(task.handler);
    return handler ? attemptOf(handler.run, task) : Promise.resolve(failed(new EasyRetryError(`no handler for ${task.handler}`)));
  }
}
