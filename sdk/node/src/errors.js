// Errors, by what the caller can do about them.

export class EasyRetryError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The daemon refuses the request, and says why. */
export class Refusal extends EasyRetryError {
  constructor(status, { code = "no_code", message = "", hint = "", requestId = "", retryAfterMs = 0, remembersMs = 0 }) {
    super(`the daemon answered ${status} ${code}: ${message}${hint && ` (${hint})`}`);
    Object.assign(this, { status, code, hint, requestId, retryAfterMs, remembersMs }); // how far back the daemon remembers an Idempotency-Key
  }
}

/** No answer came, or one that no daemon gives. If `sent`, the request may have been carried out. */
export class Unanswered extends EasyRetryError {
  constructor(message, sent, cause) {
    super(message, { cause });
    this.sent = sent;
  }
}

/** Thrown by a handler: a final failure, whatever the policy would still allow. */
export class GiveUp extends EasyRetryError {}

/** Thrown by a handler: a failed attempt, and the next one is due after `delayMs`. */
export class RetryAfter extends EasyRetryError {
  constructor(delayMs, message = "asked for a retry", options) {
    super(message, options);
    if (!(delayMs >= 0)) throw new RangeError(`RetryAfter: ${delayMs} is not a number of milliseconds`);
    this.delayMs = Math.min(Math.round(delayMs), 315_569_520_000); // ten years, the most that a daemon takes
  }
}

// Reasons of task.signal

/** The task belongs to another worker now, or was cancelled. The outcome is not sent. */
export class LeaseLost extends EasyRetryError {}

/** The worker stops, and its drain time is over. The task is handed back. */
export class Stopping extends EasyRetryError {}

/** The handler has run for longer than its timeout. */
export class Timeout extends EasyRetryError {}

/** Whether the same request may succeed later: no answer, too many requests, or trouble in the daemon. */
export function mayPass(error) {
  if (error instanceof Refusal) return error.status === 429 || error.status >= 500;
  return error instanceof Unanswered;
}

/** Whether the request was certainly not carried out. */
export function changedNothing(error) {
  if (error instanceof Refusal) return error.status < 500 || (error.status === 503 && error.code !== "in_doubt");
  return error instanceof Unanswered && !error.sent;
}

const MOST_CHARACTERS = 2_000; // the daemon keeps 4 KiB

/** The text for the daemon. Whatever was thrown, this does not throw. */
export function errorText(thrown) {
  let text;
  try {
    text = thrown instanceof Error ? String(thrown.message) || `${thrown.name} without a text` : `threw ${typeof thrown} ${String(thrown)}`;
  } catch {
    text = "threw something whose text cannot be made";
  }
  if (text.length > MOST_CHARACTERS) text = `${text.slice(0, MOST_CHARACTERS)}…`;
  // NUL and surrogates without their other half: the daemon's store takes neither.
  return text.replace(/\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

/** For the log, which must not quote arguments: the kind of error only. */
export function errorKind(thrown) {
  try {
    return thrown instanceof Error ? String(thrown.constructor?.name ?? "Error") : typeof thrown;
  } catch {
    return "unknown";
  }
}
