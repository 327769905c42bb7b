// With a real daemon: tests/e2e/sdk_test.py starts one, and sets EASYRETRY_URL, EASYRETRY_TOKEN and SUBMITTER_TOKEN.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, GiveUp, LeaseLost, RetryAfter, Worker } from "../src/index.js";
import { Notes, PATIENCE_MS, quiet } from "./scripted.mjs";

const client = new Client();
const timeoutMs = PATIENCE_MS;

/** Runs one handler under a name of its own. */
function serving(t, name, handler, options) {
  const worker = new Worker(client, { logger: quiet, concurrency: 100, leaseMs: 2000 }).handle(name, handler, options);
  void worker.run();
  t.after(() => worker.stop());
}

async function ended(task) {
  const { id } = await client.submit(task);
  return client.wait(id, { timeoutMs });
}

test("a result reaches the caller, if the token may see it", async (t) => {
  serving(t, "kept", ({ args: [n] }) => ({ n }));
  const { id, outcome, result } = await ended({ handler: "kept", args: ["9007199254740993"] });
  assert.deepEqual([outcome, result], ["succeeded", { n: "9007199254740993" }]);
  const seen = await new Client({ token: process.env.SUBMITTER_TOKEN }).wait(id, { timeoutMs });
  assert.deepEqual([seen.outcome, seen.result], ["succeeded", undefined]);
});

test("failures follow the policy, unless the handler decides", async (t) => {
  serving(t, "failing", ({ key, attempts }) => {
    if (key === "closed") throw new GiveUp("the account is closed");
    if (key === "busy" && attempts === 1) throw new RetryAfter(10, "busy");
    if (key !== "busy") throw new Error("no route");
  });
  const policy = { maxAttempts: 2, backoff: "fixed delay=10ms jitter=none", maxDurationMs: 3_600_000 };
  for (const [key, ...wanted] of [["closed", "rejected", 1], ["busy", "succeeded", 2], ["never", "exhausted", 2]]) {
    const { outcome, attempts } = await ended({ handler: "failing", key, policy });
    assert.deepEqual([outcome, attempts], wanted, key);
  }
});

test("a cancelled task cancels its handler", async (t) => {
  const notes = new Notes();
  serving(t, "long", ({ id, signal }) => new Promise((_, reject) => {
    signal.onabort = () => (notes.put(signal.reason), reject(signal.reason));
    notes.put(id);
  }));
  const { id } = await client.submit({ handler: "long" });
  assert.equal(await notes.take(), id);
  await client.cancel(id);
  assert.ok((await notes.take()) instanceof LeaseLost);
  assert.equal((await client.wait(id, { timeoutMs })).outcome, "cancelled");
});

test("a task is retried now", async (t) => {
  serving(t, "later", () => {});
  const { id } = await client.submit({ handler: "later", delayMs: 3_600_000, tags: ["vip"], deadline: new Date(Date.now() + 86_400_000) });
  assert.equal((await client.get(id)).state, "pending");
  await client.retry(id);
  assert.equal((await client.wait(id, { timeoutMs })).outcome, "succeeded");
});

test("many tasks are stored and settled in batches", async (t) => {
  let ran = 0;
  serving(t, "many", () => void ran++, { inBatches: true });
  const stored = await client.submitAll(Array.from({ length: 1000 }, (_, i) => ({ handler: "many", args: [i] })));
  assert.equal(stored.length, 1000);
  for (const { id } of stored) assert.equal((await client.wait(id, { timeoutMs })).outcome, "succeeded");
  assert.equal(ran, 1000);
});

test("the daemon judges results", async (t) => {
  serving(t, "judged", ({ attempts }) => ({ ok: attempts > 1 }));
  const { outcome, attempts } = await ended({ handler: "judged", policy: { maxAttempts: 3, backoff: "fixed delay=10ms jitter=none" } });
  assert.deepEqual([outcome, attempts], ["succeeded", 2]);
});

test("a duplicate is rejected by the daemon, and an unknown task is not found", async () => {
  const wanted = { handler: "unserved", key: "once", onDuplicate: "reject" };
  await client.submit(wanted);
  await assert.rejects(client.submit(wanted), { code: "duplicate_key" });
  await assert.rejects(client.get("1"), { status: 404 });
});
