export interface ClientOptions {
  /** Default: EASYRETRY_URL, or http://127.0.0.1:7077 */
  url?: string;
  /** Default: EASYRETRY_TOKEN */
  token?: string;
  /** Instead of `token`; read again when the daemon refuses the token. Default: EASYRETRY_TOKEN_FILE, if no token is set */
  tokenFile?: string;
  /** PEM of the authority that signed the daemon's certificate. Default: EASYRETRY_CA_FILE, or the authorities of Node. Not with
   * `fetch` */
  caFile?: string;
  /** For tokens of all namespaces */
  namespace?: string;
  /** Allows http:// to another machine, where anyone on the way can read the token */
  allowPlainHttp?: boolean;
  /** How long a call repeats a request that got no answer, 429 or 5xx; default 30,000 */
  retryForMs?: number;
  /** Between two tries, unless the daemon asks for more; default 15,000 */
  longestPauseMs?: number;
  /** For one answer, beyond the time that a request waits for tasks; default 30,000, at most 24 days */
  requestTimeoutMs?: number;
  /** Replaces fetch. A worker's polls then use it, too, and are cut when the worker stops */
  fetch?: typeof globalThis.fetch;
}

export interface Call {
  signal?: AbortSignal;
}

/** Replaces what the daemon is configured with for the handler. What is left out stays as configured; 0 is no limit. */
export interface Policy {
  maxAttempts?: number;
  maxDurationMs?: number;
  /** Such as "exponential first=1s factor=2 cap=15m jitter=1s" */
  backoff?: string;
}

/** A task to be stored. */
export interface NewTask {
  handler: string;
  /** Whole numbers beyond 2^53 lose digits: write them as strings */
  args?: unknown[];
  /** One live task per key; default: made of handler and arguments */
  key?: string;
  onDuplicate?: "keep" | "update_policy" | "reject";
  /** Who is served first; default: as the handler is configured */
  class?: "urgent" | "normal" | "background";
  businessType?: string;
  businessId?: string;
  tags?: string[];
  /** W3C trace context; default: that of the handler that submits */
  traceparent?: string;
  delayMs?: number;
  dueAt?: Date | string;
  /** No attempt starts after it */
  deadline?: Date | string;
  policy?: Policy;
}

export interface Stored {
  id: string;
  key: string;
  /** False: `id` is that of the live task that already had this key */
  created: boolean;
  version: number | string;
  nextAt: Date;
}

/** A task as the daemon shows it. */
export interface Task {
  readonly id: string;
  readonly handler: string;
  readonly key: string;
  readonly attempts: number;
  readonly state: "pending" | "running" | "finished";
  readonly stage: string;
  /** Of a finished task: succeeded, exhausted, rejected, quarantined, parked, cancelled */
  readonly outcome?: string;
  /** The fencing token; a string if it has more digits than a number */
  readonly version: number | string;
  readonly tags: string[];
  readonly businessType?: string;
  readonly businessId?: string;
  readonly traceparent?: string;
  readonly lastError?: string;
  readonly result?: unknown;
  readonly createdAt: Date;
  readonly nextAt?: Date;
  readonly finishedAt?: Date;
  readonly [field: string]: unknown;
}

/** A task as a handler gets it. */
export interface LeasedTask<Args extends unknown[] = any[]> extends Omit<Task, "progress"> {
  readonly id: string;
  readonly handler: string;
  readonly key: string;
  readonly attempts: number;
  readonly traceparent?: string;
  readonly args: Args;
  /** Aborted when the lease is lost, the handler has run for too long, or the worker stops for good. `reason` says which:
   * LeaseLost, Timeout or Stopping */
  readonly signal: AbortSignal;
  /** A note that people see beside the running task; sent within about a second */
  progress(note: string): void;
}

export class Client {
  constructor(options?: ClientOptions);
  submit(task: NewTask, call?: Call): Promise<Stored>;
  submitAll(tasks: NewTask[], call?: Call): Promise<Stored[]>;
  get(id: string, call?: Call): Promise<Task>;
  wait(id: string, call?: Call & { timeoutMs?: number }): Promise<Task>;
  cancel(id: string, call?: Call): Promise<void>;
  retry(id: string, call?: Call): Promise<void>;
}

export interface Logger {
  info?(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface WorkerOptions {
  /** Handlers at once, and tasks in a lease request; default 10, at most 1000 */
  concurrency?: number;
  /** Renewed when a third has passed; default 30,000 */
  leaseMs?: number;
  /** How long a request waits for tasks; default 30,000, at most 60,000 */
  waitMs?: number;
  /** How long handlers may finish when the worker stops; default 20,000 */
  drainMs?: number;
  /** Default: console. Arguments, results and error texts of handlers are never logged */
  logger?: Logger;
}

export interface HandlerOptions {
  /** Settles successes many at a time, which is much faster. The daemon then does not judge them: its `success_when` and
   * `keep_results` do not apply, and results are not sent */
  inBatches?: boolean;
  /** Cancels the handler after this time. If it does not end then, the attempt is reported as failed all the same.
   * At most 24 days */
  timeoutMs?: number;
}

/** A result is sent to the daemon; undefined is no result. What it throws is a failed attempt: the policy decides on the next one,
 * unless it is GiveUp or RetryAfter. A handler must not block the event loop for long: leases could not be renewed. */
export type Handler = (task: LeasedTask) => unknown;

/** What became of one call of a handler. */
export type Attempt =
  | { ok: true; /** JSON */ result?: string; leftOut?: string }
  | { ok: false; error: string; kind: string; giveUp: boolean; retryAfterMs?: number };

export class Worker {
  constructor(client: Client, options?: WorkerOptions);
  handle(name: string, run: Handler, options?: HandlerOptions): this;
  run(): Promise<void>;
  stop(): Promise<void>;
  perform(task: LeasedTask): Promise<Attempt>;
}

export function withTraceparent<T>(traceparent: string | undefined, run: () => T): T;
export function currentTraceparent(): string | undefined;

export class EasyRetryError extends Error {}
/** The daemon refuses the request, and says why. */
export class Refusal extends EasyRetryError {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly requestId: string;
  readonly retryAfterMs: number;
}
/** No answer came, or one that no daemon gives. If `sent`, the request may have been carried out. */
export class Unanswered extends EasyRetryError {
  readonly sent: boolean;
}
/** Thrown by a handler: a final failure. */
export class GiveUp extends EasyRetryError {
  constructor(message: string, options?: ErrorOptions);
}
/** Thrown by a handler: the next attempt is due after this time. */
export class RetryAfter extends EasyRetryError {
  constructor(delayMs: number, message?: string, options?: ErrorOptions);
  readonly delayMs: number;
}
export class LeaseLost extends EasyRetryError {}
export class Stopping extends EasyRetryError {}
export class Timeout extends EasyRetryError {}
