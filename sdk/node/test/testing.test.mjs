import assert from "node:assert/strict";
import { test } from "node:test";

import { GiveUp, RetryAfter, Worker } from "../src/index.js";
import { FakeDaemon } from "../src/testing.js";

test("tasks run by hand, without a daemon", async () => {
  const fake = new FakeDaemon();
  const client = fake.client();
  let tries = 0;
  const worker = new Worker(client).handle("mail", ({ args: [to] }) => {
    if (++tries === 1) throw new RetryAfter(3_600_000, "busy");
    return `sent to ${to}`;
  });
  const stored = await client.submit({ handler: "mail", args: ["ann"], delayMs: 3_600_000 });
  assert.equal(stored.created, true);
  const again = await client.submit({ handler: "mail", args: ["ann"] });
  assert.deepEqual([again.created, again.id], [false, stored.id]);
  assert.equal((await fake.runNext(worker)).retryAfterMs, 3_600_000);
  assert.equal((await fake.runNext(worker)).result, '"sent to ann"');
  assert.equal(await fake.runNext(worker), undefined);
  const task = await client.wait(stored.id);
  assert.deepEqual([task.outcome, task.attempts, task.result], ["succeeded", 2, "sent to ann"]);
});

test("tasks end in the fake as in a daemon", async () => {
  const fake = new FakeDaemon();
  const client = fake.client();
  const worker = new Worker(client)
    .handle("never", () => { throw new Error("no"); })
    .handle("closed", () => { throw new GiveUp("closed"); });
  await client.submitAll([{ handler: "never" }, { handler: "closed" }, { handler: "never", key: "k" }, { handler: "unknown" }]);
  await client.cancel(fake.tasks[2].id);
  await fake.runAll(worker);
  assert.deepEqual(fake.tasks.map(({ outcome }) => outcome), ["exhausted", "rejected", "cancelled", "exhausted"]);
  await assert.rejects(client.get("1"), { status: 404 });
  await client.submit({ handler: "x", key: "y", onDuplicate: "reject" });
  await assert.rejects(client.submit({ handler: "x", key: "y", onDuplicate: "reject" }), { code: "duplicate_key" });
});
