import assert from "node:assert/strict";
import { test } from "node:test";

import { currentTraceparent, GiveUp, LeaseLost, RetryAfter, Stopping, Worker } from "../src/index.js";
import { AS_A_DAEMON, Notes, refuse, running, scripted, taskJson } from "./scripted.mjs";

const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const cycle = {};
cycle.itself = cycle;
const raise = (thrown) => () => { throw thrown; };

for (const [name, handler, wanted] of [
  ["no result", () => {}, / done {"version":2}$/],
  ["a result", () => ({ n: 1 }), / done {"version":2,"result":{"n":1}}$/],
  ["an error", raise(new Error("no route")), / fail .*"error":"no route"/],
  ["give up", raise(new GiveUp("closed")), / fail .*"error":"closed","give_up":true/],
  ["retry after", raise(new RetryAfter(5000)), / fail .*"retry_after_ms":5000/],
  ["undefined thrown", raise(undefined), / fail .*threw undefined/],
  ["a number thrown", raise(42), / fail .*threw number 42/],
  ["an error without a text", raise(new TypeError()), / fail .*TypeError without a text/],
  ["an error that cannot be printed", raise({ toString: raise(1) }), / fail .*whose text cannot be made/],
  ["a hostile proxy", raise(new Proxy({}, { getPrototypeOf: raise(1), get: raise(2) })), / fail .*whose text cannot be made/],
  ["NUL and half a character", raise(new Error("a\0b\uD800c😀")), / fail .*"error":"a\uFFFDb\uFFFDc😀"/],
  ["a long error", raise(new Error("x".repeat(1 << 20))), / fail .{0,3000}$/],
  ["a rejection", () => Promise.reject(new Error("later")), / fail .*"error":"later"/],
  ["a thenable that throws", () => ({ then: raise(new Error("then")) }), / fail .*"error":"then"/],
  ["NaN", () => ({ deep: [NaN] }), / done {"version":2}$/],
  ["a cycle", () => cycle, / done {"version":2}$/],
  ["a function", () => () => {}, / done {"version":2}$/],
  ["a BigInt", () => 1n, / done {"version":2}$/],
  ["toJSON that throws", () => ({ toJSON: raise(1) }), / done {"version":2}$/],
  ["a result that is too long", () => "x".repeat(9 << 20), / done {"version":2}$/],
]) {
  test(`whatever a handler does is reported: ${name}`, async (t) => {
    const daemon = await scripted(t, { tasks: [taskJson(1)] });
    const { worker } = running(t, daemon.client(), handler);
    const settled = await daemon.settled.take();
    assert.match(settled, wanted);
    assert.match(settled, /^910048318464253101 /);
    await worker.stop();
  });
}

test("a lease that is lost cancels the handler, and its outcome is not sent", async (t) => {
  const daemon = await scripted(t, {
    tasks: [taskJson(1)],
    fault: ({ url }, response) => url === "/v1/leases/renew" && response.writeHead(200, AS_A_DAEMON).end('{"applied":[false]}'),
  });
  const reasons = new Notes();
  const { worker } = running(t, daemon.client(), ({ signal }) => new Promise((_, reject) => {
    signal.onabort = () => (reasons.put(signal.reason), reject(signal.reason));
  }), { leaseMs: 1000 });
  assert.ok((await reasons.take()) instanceof LeaseLost);
  await worker.stop();
  assert.equal(daemon.settled.size, 0);
});

test("a lease that cannot be renewed cancels the handler, and a success is still sent", async (t) => {
  const daemon = await scripted(t, { tasks: [taskJson(1)], fault: ({ url }, response) => url === "/v1/leases/renew" && response.writeHead(503).end() });
  running(t, daemon.client(), ({ signal }) => new Promise((resolve) => (signal.onabort = () => resolve())), { leaseMs: 1000 });
  assert.match(await daemon.settled.take(), / done /);
});

for (const [name, fault] of [
  ["a cut connection", (response) => response.destroy()],
  ["500", (response) => response.writeHead(500).end()],
  ["401", (response) => refuse(response, 401)],
  ["HTML", (response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>captive portal")],
  ["too few answers", (response) => response.writeHead(200, AS_A_DAEMON).end('{"applied":[]}')],
]) {
  test(`an outcome is sent again until the daemon answers: ${name}`, async (t) => {
    let refused = 0;
    const daemon = await scripted(t, {
      tasks: [taskJson(1)],
      fault: ({ url }, response) => url === "/v1/leases/settle" && refused++ < 2 && (fault(response), true),
    });
    running(t, daemon.client(), () => {}, { options: { inBatches: true } });
    assert.equal(await daemon.settled.take(), "910048318464253101 finish");
  });
}

test("a result that is refused is left out", async (t) => {
  let refused = 0;
  const daemon = await scripted(t, { tasks: [taskJson(1)], fault: ({ url }, response) => url.endsWith("/done") && refused++ < 1 && refuse(response, 413) });
  running(t, daemon.client(), () => "long");
  assert.match(await daemon.settled.take(), / done {"version":2}$/);
});

test("a handler that never ends is reported after its timeout", async (t) => {
  const daemon = await scripted(t, { tasks: [taskJson(1)] });
  const { worker } = running(t, daemon.client(), () => new Promise(() => {}), { options: { timeoutMs: 50 } });
  assert.match(await daemon.settled.take(), / fail .*did not end within 50 ms/);
  await worker.stop();
});

test("a stop waits for handlers and hands back the rest", async (t) => {
  const daemon = await scripted(t, { tasks: ["quick", "stuck", "obedient"].map((kind, i) => taskJson(i + 1, "mail", [kind])) });
  const begun = new Notes();
  let finish;
  const stopping = new Promise((resolve) => (finish = resolve));
  const { worker } = running(t, daemon.client(), ({ args: [kind], signal }) => {
    begun.put(kind);
    if (kind === "quick") return stopping;
    return new Promise((_, reject) => {
      if (kind === "obedient") signal.onabort = () => reject(signal.reason);
    });
  });
  for (let i = 0; i < 3; i++) await begun.take();
  finish();
  await worker.stop();
  const kinds = [];
  for (let i = 0; i < 3; i++) kinds.push((await daemon.settled.take()).split(" ")[1]);
  assert.deepEqual(kinds.sort(), ["done", "hand_back", "hand_back"]);
});

test("tasks that are on their way at a stop are handed back", async (t) => {
  const polled = new Notes();
  const daemon = await scripted(t, {
    fault: ({ url, socket }, response) => {
      if (url !== "/v1/leases") return false;
      socket.once("end", () => response.writeHead(200, AS_A_DAEMON).end(JSON.stringify({ tasks: [taskJson(1)] }))); // its side was closed
      polled.put(url);
      return true;
    },
  });
  const { worker } = running(t, daemon.client(), () => assert.fail("it ran"));
  await polled.take();
  await worker.stop();
  assert.equal(await daemon.settled.take(), "910048318464253101 hand_back");
});

test("many outcomes at once are no reason for a warning of Node", async (t) => {
  const warnings = [];
  const listen = (warning) => warnings.push(warning.name);
  process.on("warning", listen);
  t.after(() => process.off("warning", listen));
  const daemon = await scripted(t, { tasks: Array.from({ length: 50 }, (_, i) => taskJson(i)) });
  const { worker } = running(t, daemon.client(), () => "a result", { concurrency: 50 });
  for (let i = 0; i < 50; i++) await daemon.settled.take();
  await worker.stop();
  assert.deepEqual(warnings, []);
});

test("the reason of a stop is Stopping", async (t) => {
  const daemon = await scripted(t, { tasks: [taskJson(1)] });
  const begun = new Notes();
  let reason;
  const { worker } = running(t, daemon.client(), ({ signal }) => new Promise((_, reject) => {
    begun.put(1);
    signal.onabort = () => ((reason = signal.reason), reject(reason));
  }), { drainMs: 0 });
  await begun.take();
  await worker.stop();
  assert.ok(reason instanceof Stopping);
});

test("no more handlers run than are allowed, and as many are leased", async (t) => {
  const daemon = await scripted(t, { tasks: [1, 2, 3].map((i) => taskJson(i)) });
  let now = 0;
  let most = 0;
  let go;
  const all = new Promise((resolve) => (go = resolve));
  running(t, daemon.client(), async () => {
    most = Math.max(most, ++now);
    if (now === 3) go();
    await all;
    now--;
  }, { concurrency: 3 });
  assert.equal(JSON.parse(await daemon.asked.take()).max, 3);
  for (let i = 0; i < 3; i++) await daemon.settled.take();
  assert.equal(most, 3);
});

test("a token that is refused is tried again", async (t) => {
  let asked = 0;
  const daemon = await scripted(t, { tasks: [taskJson(1)], fault: ({ url }, response) => url === "/v1/leases" && asked++ < 3 && refuse(response, 401) });
  running(t, daemon.client(), () => {});
  await daemon.settled.take();
  assert.ok(asked > 3);
});

test("arguments are never logged, but the ids of tasks are", async (t) => {
  const lines = [];
  const log = (text) => lines.push(text);
  const secret = ["secret-argument"];
  const daemon = await scripted(t, { tasks: [taskJson(1, "mail", secret), taskJson(2, "mail", secret), taskJson(3, "other", secret)] });
  const { worker } = running(t, daemon.client(), (task) => {
    if (task.id.endsWith("1")) throw task.args[0];
    throw new Error(`cannot send ${task.args[0]}`);
  }, { logger: { info: log, warn: log, error: log } });
  for (let i = 0; i < 3; i++) await daemon.settled.take();
  await worker.stop();
  const text = lines.join("\n");
  for (const wanted of [/253101/, /253102/, /a handler that this worker does not have/]) assert.match(text, wanted);
  assert.doesNotMatch(text, /secret/);
});

test("a version with more digits than a number is sent back as it came", async (t) => {
  const text = `{"tasks":[${JSON.stringify({ ...taskJson(1), version: 0 }).replace('"version":0', '"version":9007199254740993')}]}`;
  let lent = false;
  const daemon = await scripted(t, {
    fault: ({ url }, response) => url === "/v1/leases" && !lent && (lent = true) && response.writeHead(200, AS_A_DAEMON).end(text),
  });
  running(t, daemon.client(), () => {});
  assert.match(await daemon.settled.take(), /"version":9007199254740993}/);
});

test("a trace comes in", async (t) => {
  const daemon = await scripted(t, { tasks: [{ ...taskJson(1), traceparent: TRACE }] });
  running(t, daemon.client(), async () => (await null, currentTraceparent()));
  assert.match(await daemon.settled.take(), new RegExp(`"result":"${TRACE}"`));
});

test("wrong options of a worker are refused", () => {
  for (const wrong of [{ concurrency: 0 }, { leaseMs: 1 }, { waitMs: 61_000 }, { drainMs: NaN }]) assert.throws(() => new Worker({}, wrong), RangeError);
  for (const timeoutMs of [2 ** 31, 0, -1, NaN, "soon"]) assert.throws(() => new Worker({}).handle("a", () => {}, { timeoutMs }), RangeError);
  assert.throws(() => new Worker({}).run(), /no handlers/);
  assert.throws(() => new Worker({}).handle("a"), TypeError);
  assert.throws(() => new Worker({}).handle("a", () => {}).handle("a", () => {}), /already/);
});
