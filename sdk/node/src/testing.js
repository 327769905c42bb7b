// A daemon in memory, for tests of code that submits tasks and of handlers. Tasks run when the test says so; no time has to pass.
import { Client } from "./client.js";
import { taskOf } from "./task.js";

export class FakeDaemon {
  #tasks = []; // in the order of submission, as the daemon shows them

  /** Submits to this fake. get, wait (without waiting), cancel and retry work, too. */
  client() {
    const fetch = (url, request) => this.#answer(new URL(url), request);
    return new Client({ url: "http://localhost", token: "fake", retryForMs: 0, fetch });
  }

  /** Copies of all tasks, with their arguments. */
  get tasks() {
    return this.#tasks.map((task) => taskOf(structuredClone(task)));
  }

  /** Runs the oldest live task with the worker's handler, whenever it is due. Undefined: no task is left. */
  async runNext(worker, { signal = new AbortController().signal } = {}) {
    const task = this.#tasks.find(({ state }) => state === "pending");
    if (!task) return undefined;
    Object.assign(task, { state: "running", attempts: task.attempts + 1, version: task.version + 1 });
    const shown = Object.assign(taskOf(structuredClone(task)), { signal, progress: (note) => void (task.progress = String(note)) });
    const attempt = await worker.perform(shown);
    if (task.state === "finished") return attempt; // cancelled meanwhile
    if (attempt.ok) finish(task, "succeeded", attempt.result && { result: JSON.parse(attempt.result) });
    else if (attempt.giveUp) finish(task, "rejected", { last_error: attempt.error });
    else Object.assign(task, { state: "pending", last_error: attempt.error });
    return attempt;
  }

  /** Runs tasks until none is left. A task whose attempts all fail ends as exhausted after `maxAttempts`. */
  async runAll(worker, { maxAttempts = 3 } = {}) {
    while (await this.runNext(worker)) {
      for (const task of this.#tasks) if (task.state === "pending" && task.attempts >= maxAttempts) finish(task, "exhausted");
    }
  }

  async #answer({ pathname }, { method, body }) {
    if (method === "POST" && pathname === "/v1/tasks") return this.#store(JSON.parse(body));
    const [, id, verb] = /^\/v1\/tasks\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const task = this.#tasks.find((one) => one.id === id);
    if (!task) return problem(404, "not_found", `the fake has no task ${id}`);
    if (verb && task.state === "finished") return problem(409, "ended", "the task has ended");
    if (verb && verb !== "cancel" && verb !== "retry") return problem(404, "not_found", `the fake does not know ${verb}`);
    if (verb === "cancel") finish(task, "cancelled");
    const { args, ...shown } = task;
    return answer(200, shown);
  }

  // All or none, and a live task keeps its key, as in a daemon.
  #store(body) {
    const wanted = body.tasks ?? [body];
    const rejected = wanted.find((one) => one.on_duplicate === "reject" && this.#live(keyOf(one)));
    if (rejected) return problem(409, "duplicate_key", "the key is live");
    const stored = wanted.map((one) => this.#storeOne(one));
    return answer(201, body.tasks ? { tasks: stored } : stored[0]);
  }

  #live(key) {
    return this.#tasks.find((task) => task.key === key && task.state !== "finished");
  }

  #storeOne({ on_duplicate, ...wanted }) {
    const key = keyOf(wanted);
    const live = this.#live(key);
    if (live) return { ...live, created: false };
    const now = new Date().toISOString();
    const id = String(9_100_000_000_000_000_001n + BigInt(this.#tasks.length)); // more digits than a number has, as real ids
    const task = { args: [], tags: [], ...wanted, id, key, state: "pending", stage: "run", attempts: 0, version: 1, created_at: now, next_at: now };
    this.#tasks.push(task);
    return { ...task, created: true };
  }
}

function keyOf({ key, handler, args = [] }) {
  return key || `${handler}:${JSON.stringify(args)}`;
}

function finish(task, outcome, more) {
  Object.assign(task, { state: "finished", outcome, finished_at: new Date().toISOString() }, more);
}

function answer(status, body) {
  const headers = { "Content-Type": "application/json", "easyretry-time": new Date().toISOString() };
  return new Response(JSON.stringify(body), { status, headers });
}

function problem(status, code, message) {
  return answer(status, { error: { code, message } });
}
