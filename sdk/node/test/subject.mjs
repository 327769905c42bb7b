// The subject of the conformance suite (sdk/conformance): a worker and a client of this SDK, told what to do on standard input,
// that says on standard output what happens.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, currentTraceparent, GiveUp, RetryAfter, Worker } from "../src/index.js";

const { env } = process;
const say = (event, fields) => process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
const setting = (name) => Number(env[`CONFORM_${name}`]);

await main();

function thrown(what) {
  if (what === "empty") return new Error("");
  if (what === "nul") return new Error("a\0b");
  if (what === "broken") return new Error("a\uD800b");
  if (what === "long") return new Error("x".repeat(9 << 20));
  if (what === "untold") return { toString: () => { throw new Error("its text cannot be made"); } };
  return undefined; // the strangest thing to throw
}

function returned(what) {
  const cycle = {};
  cycle.itself = cycle;
  const values = { nan: NaN, cycle, stranger: () => {}, broken: "a\uD800b", huge: "x".repeat(9 << 20), whole: { n: "9007199254740993" } };
  return values[what];
}

async function slow(task, { ms }) {
  try {
    await sleep(ms, undefined, { signal: task.signal });
  } catch {
    say("cancelled", { key: task.key, attempt: task.attempts });
    throw task.signal.reason;
  }
}

function fail() {
  throw new Error("told to fail");
}

function handlers(client) {
  const atFirst = (run) => (task, given) => (task.attempts > 1 ? undefined : run(task, given));
  return {
    ok: (_, given) => ({ ok: true, given }),
    none: () => {},
    batched: () => {},
    fail,
    fail_once: atFirst(fail),
    slow,
    never: () => new Promise(() => {}),
    give_up: () => { throw new GiveUp("no mailbox"); },
    retry_after: atFirst((_, { ms }) => { throw new RetryAfter(ms, "busy"); }),
    progress: (task, given) => (task.progress("half"), slow(task, given)),
    trace: async (task) => {
      say("trace", { key: task.key, traceparent: currentTraceparent() });
      await client.submit({ handler: "conform.none", key: "child", args: [{}] });
    },
    judged: (_, { result }) => result,
    throws: (_, { what }) => { throw thrown(what); },
    returns: (_, { what }) => returned(what),
  };
}

// Says when a handler begins and ends.
function told(run) {
  return async (task) => {
    const { handler, id, key, attempts: attempt } = task;
    say("begin", { handler, id, key, attempt });
    try {
      return await run(task, task.args[0]);
    } finally {
      say("end", { key, attempt });
    }
  };
}

async function submit(client, { do: what, tag, handler, key, args, traceparent, prefix, count }) {
  try {
    const stored = what === "submit"
      ? [await client.submit({ handler, key, args, traceparent })]
      : await client.submitAll(Array.from({ length: count }, (_, i) => ({ handler, key: `${prefix}${i}`, args: [{}] })));
    say("submitted", { tag, ids: stored.map(({ id }) => id) });
  } catch (error) {
    say("refused", { tag, text: error.message });
  }
}

async function main() {
  const error = (text) => say("error", { text });
  const client = new Client({ retryForMs: setting("TIMEOUT_MS"), requestTimeoutMs: setting("TIMEOUT_MS"), longestPauseMs: setting("PAUSE_MS") });
  const worker = new Worker(client, {
    concurrency: setting("CONCURRENCY"), leaseMs: setting("LEASE_MS"), waitMs: setting("WAIT_MS"), drainMs: setting("DRAIN_MS"),
    logger: { info() {}, warn: error, error },
  });
  for (const [name, run] of Object.entries(handlers(client))) worker.handle(`conform.${name}`, told(run), { inBatches: name === "batched" });
  const stop = () => void worker.stop().catch(() => {});
  process.on("SIGTERM", stop);
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    const command = JSON.parse(line);
    if (command.do === "stop") stop();
    else void submit(client, command);
  });
  input.on("close", stop);
  const running = worker.run();
  say("ready");
  await running.catch(({ message }) => error(message));
  say("stopped");
  process.exit(0);
}
