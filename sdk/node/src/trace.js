import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage();
const FORM = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Runs a function whose submissions carry this W3C trace context. Handlers already have that of their task. A text of
 * another form is ignored: a broken trace must not stop the work. */
export function withTraceparent(traceparent, run) {
  return FORM.test(traceparent ?? "") ? current.run(traceparent, run) : run();
}

export function currentTraceparent() {
  return current.getStore();
}
