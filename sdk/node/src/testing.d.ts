import type { Attempt, Client, Task, Worker } from "./index.js";

/** A daemon in memory. */
export class FakeDaemon {
  /** Submits to this fake. get, wait (without waiting), cancel and retry work, too. */
  client(): Client;
  /** Copies of all tasks, with their arguments. */
  readonly tasks: (Task & { args: unknown[] })[];
  /** Runs the oldest live task with the worker's handler, whenever it is due. Undefined: no task is left. */
  runNext(worker: Worker, options?: { signal?: AbortSignal }): Promise<Attempt | undefined>;
  /** Runs tasks until none is left. A task whose attempts all fail ends as exhausted after `maxAttempts` (default 3). */
  runAll(worker: Worker, options?: { maxAttempts?: number }): Promise<void>;
}
