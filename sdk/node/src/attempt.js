// The outcome of one call of a handler.
import { errorKind, errorText, GiveUp, RetryAfter } from "./errors.js";
import { jsonText } from "./submission.js";
import { withTraceparent } from "./trace.js";

const MOST_RESULT_BYTES = 8_000_000; // a request may have 8 MiB

/** Runs a handler. Never rejects. `{ ok, result, leftOut }`, or `{ ok: false, error, kind, giveUp, retryAfterMs }`. */
export async function attemptOf(run, task) {
  try {
    return succeeded(await withTraceparent(task.traceparent, () => run(task)));
  } catch (thrown) {
    return failed(thrown);
  }
}

export function failed(thrown) {
  const attempt = { ok: false, error: errorText(thrown), kind: errorKind(thrown), giveUp: false, retryAfterMs: undefined };
  try {
    if (thrown instanceof GiveUp) attempt.giveUp = true;
    else if (thrown instanceof RetryAfter) attempt.retryAfterMs = thrown.delayMs;
  } catch {
    // a proxy that does not want to be looked at
  }
  return attempt;
}

// Leaves out a result that cannot be sent. To fail instead would repeat work that is done.
function succeeded(value) {
  if (value === undefined || value === null) return { ok: true };
  let result;
  try {
    result = jsonText(value);
  } catch {
    return { ok: true, leftOut: "its result cannot be written as JSON" };
  }
  const bytes = Buffer.byteLength(result);
  if (bytes > MOST_RESULT_BYTES) return { ok: true, leftOut: `its result has ${bytes} bytes, more than a request may have` };
  return { ok: true, result };
}
