import { randomUUID } from "node:crypto";

import { Connection } from "./connection.js";
import { changedNothing, mayPass, Unanswered } from "./errors.js";
import { Pauses, sleep } from "./pauses.js";
import { batchesOf, taskText } from "./submission.js";
import { taskOf } from "./task.js";

const LONGEST_WAIT_MS = 60_000;
const BETWEEN_WAITS_MS = 100;

/** Stores and manages tasks. */
export class Client {
  constructor({ retryForMs = 30_000, longestPauseMs = 15_000, requestTimeoutMs = 30_000, ...connection } = {}) {
    this.connection = new Connection({ ...connection, requestTimeoutMs });
    this.retryForMs = retryForMs;
    this.longestPauseMs = longestPauseMs;
  }

  /** Stores one task. After an error, the same submission may be repeated: the key makes it one task. */
  async submit(task, { signal } = {}) {
    return stored(await this.#submit(taskText(task), signal));
  }

  /** Stores many tasks: up to 10,000 and 8 MiB are one request, and stored all or none. If a later request fails, the error has
   * `stored`, the tasks before. */
  async submitAll(tasks, { signal } = {}) {
    const all = [];
    for (const batch of batchesOf(tasks)) {
      try {
        all.push(...(await this.#submit(batch, signal)).tasks.map(stored));
      } catch (error) {
        throw Object.assign(error, { message: `${all.length} of ${tasks.length} tasks are stored: ${error.message}`, stored: all });
      }
    }
    return all;
  }

  /** One task, without its arguments. */
  async get(id, { signal } = {}) {
    return taskOf((await this.#repeat({ method: "GET", path: pathOf(id), signal }, mayPass)).body);
  }

  /** The task when it has ended. After `timeoutMs`, the task as it is then: look at `state`. */
  async wait(id, { timeoutMs = Infinity, signal } = {}) {
    const until = performance.now() + timeoutMs;
    let query = "?result&wait_ms=";
    for (;;) {
      const waitMs = Math.ceil(Math.max(0, Math.min(LONGEST_WAIT_MS, until - performance.now())));
      let task;
      try {
        task = taskOf((await this.#repeat({ method: "GET", path: pathOf(id, query + waitMs), waitMs, signal }, mayPass)).body);
      } catch (error) {
        if (error.status !== 403 || query === "?wait_ms=") throw error;
        query = "?wait_ms="; // the token may see tasks, but not results
        continue;
      }
      if (task.state === "finished" || performance.now() >= until) return task;
      await sleep(BETWEEN_WAITS_MS, signal); // a daemon that stops answers all waits at once
    }
  }

  /** Ends a task that has not ended; its worker loses the lease. Needs an operator's token. */
  async cancel(id, options) {
    await this.#change(id, "/cancel", options);
  }

  /** Makes a pending task due now. Needs an operator's token. */
  async retry(id, options) {
    await this.#change(id, "/retry", options);
  }

  async #change(id, verb, { signal } = {}) {
    await this.#repeat({ path: pathOf(id, verb), body: "{}", signal }, (error) => mayPass(error) && changedNothing(error));
  }

  // Repeats the request with one Idempotency-Key, by which the daemon recognizes it.
  async #submit({ text, rejects }, signal) {
    const request = { path: "/v1/tasks", body: text, headers: { "Idempotency-Key": randomUUID() }, signal };
    const began = performance.now();
    const again = (error) => {
      if (error.code === "in_doubt" && !rejects) request.headers = { "Idempotency-Key": randomUUID() }; // it remembers the doubt
      return mayPass(error) && !(error.code === "in_doubt" && rejects);
    };
    try {
      return (await this.#repeat(request, again)).body;
    } catch (error) {
      if (error.code !== "duplicate_key" || !error.repeated || performance.now() - began <= error.remembersMs) throw error;
      throw new Unanswered("it is in doubt whether the task was stored by the first request, whose answer was lost", true, error);
    }
  }

  // Asks until there is an answer, for retryForMs at most.
  async #repeat(request, again) {
    const began = performance.now();
    const pauses = this.pauses();
    for (;;) {
      try {
        return await this.connection.ask(request);
      } catch (error) {
        if (pauses.failures > 0 && typeof error === "object") error.repeated = true;
        if (!again(error)) throw error;
        const pause = pauses.next(error);
        if (performance.now() - began + pause > this.retryForMs) throw error;
        await sleep(pause, request.signal);
        if (request.signal?.aborted) throw request.signal.reason;
      }
    }
  }

  pauses() {
    return new Pauses(this.longestPauseMs);
  }
}

function stored({ id, key, created, version, next_at }) {
  return { id, key, created, version, nextAt: new Date(next_at) };
}

function pathOf(id, rest = "") {
  if (typeof id !== "string") throw new TypeError("an id is a string: a number has too few digits for it");
  return `/v1/tasks/${encodeURIComponent(id)}${rest}`;
}
