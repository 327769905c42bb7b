// Stores tasks in an EasyRetry daemon and runs them: a Client submits, a Worker leases.
export { Client } from "./client.js";
export { Worker } from "./worker.js";
export { currentTraceparent, withTraceparent } from "./trace.js";
export { EasyRetryError, GiveUp, LeaseLost, Refusal, RetryAfter, Stopping, Timeout, Unanswered } from "./errors.js";
