import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { Client, currentTraceparent, Refusal, Unanswered, withTraceparent } from "../src/index.js";
import { mayPass } from "../src/errors.js";
import { Pauses } from "../src/pauses.js";
import { batchesOf, taskText } from "../src/submission.js";
import { taskOf } from "../src/task.js";
import { AS_A_DAEMON, refuse, scripted } from "./scripted.mjs";

const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** What a submission to a server with this one answer fails with. */
async function failureAt(t, answer, options) {
  const { client } = await scripted(t, { fault: (request, response) => (answer(request, response), true) });
  return failureOf(client({ retryForMs: 0, ...options }));
}

async function failureOf(client) {
  const failure = await client.submit({ handler: "mail", args: ["secret-argument"] }).then(() => assert.fail("it succeeded"), (error) => error);
  assert.doesNotMatch(inspect(failure), /er_secret|secret-argument/);
  return failure;
}

test("HTML is not a daemon", async (t) => {
  const failure = await failureAt(t, (_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>"));
  assert.match(failure.message, /is not an EasyRetry daemon of this version \(HTTP 200\).*text\/html/);
});

test("JSON of another server is not a daemon", async (t) => {
  const failure = await failureAt(t, (_, response) => response.writeHead(200, { "Content-Type": "application/json" }).end('{"ok":true}'));
  assert.match(failure.message, /is not an EasyRetry daemon/);
});

test("a page of a proxy may pass", async (t) => {
  const failure = await failureAt(t, (_, response) => response.writeHead(502).end("<html>bad gateway"));
  assert.match(failure.message, /502.*proxy/);
  assert.ok(mayPass(failure));
});

test("an answer that is cut is in doubt", async (t) => {
  const failure = await failureAt(t, (_, response) => {
    response.writeHead(200, { ...AS_A_DAEMON, "Content-Length": "1000" }).write('{"id":"91');
    setImmediate(() => response.destroy());
  });
  assert.ok(failure instanceof Unanswered && failure.sent, inspect(failure));
  assert.match(failure.message, /was cut before the answer was complete/);
});

test("a redirect is not followed", async (t) => {
  let stolen = false;
  const thief = await scripted(t, { fault: () => (stolen = true) });
  const failure = await failureAt(t, (_, response) => response.writeHead(307, { Location: thief.url }).end());
  assert.match(failure.message, new RegExp(`redirects to ${new URL(thief.url).host}`));
  assert.equal(stolen, false);
});

test("a server that does not speak TLS, and an address without a daemon, are named", async (t) => {
  const { url } = await scripted(t);
  const plain = await failureOf(new Client({ url: url.replace("http:", "https:"), token: "er_secret", retryForMs: 0 }));
  assert.match(plain.message, /does not speak TLS/);
  const gone = createNetServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => gone.once("listening", resolve));
  const { port } = gone.address();
  await new Promise((resolve) => gone.close(resolve));
  const empty = await failureOf(new Client({ url: `http://127.0.0.1:${port}`, token: "er_secret", retryForMs: 0 }));
  assert.match(empty.message, /no daemon answers at .*start it/);
  assert.equal(empty.sent, false);
});

test("a refusal says what to do", async (t) => {
  const failure = await failureAt(t, (_, response) =>
    response.writeHead(401, AS_A_DAEMON).end('{"error":{"code":"unauthorized","message":"the token is unknown","hint":"easyretry token create","new":1}}'));
  assert.ok(failure instanceof Refusal);
  assert.match(failure.message, /401 unauthorized: the token is unknown \(easyretry token create\)/);
});

test("a token file is read again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "easyretry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "old\n");
  const { client } = await scripted(t, {
    fault: ({ headers }, response) => headers.authorization === "Bearer new" ? !response.writeHead(200, AS_A_DAEMON).end('{"id":"1"}') || true : refuse(response, 401),
  });
  const mine = client({ token: undefined, tokenFile });
  await assert.rejects(mine.get("1"), { status: 401 });
  writeFileSync(tokenFile, "new\n");
  assert.equal((await mine.get("1")).id, "1");
});

test("a submission is repeated under its name, until the daemon remembers a doubt", async (t) => {
  const names = [];
  const answers = [
    (response) => response.destroy(),
    (response) => response.writeHead(429, { "Retry-After": "0" }).end(),
    (response) => refuse(response, 503, "in_doubt"),
    (response) => response.writeHead(201, AS_A_DAEMON).end('{"id":"910048318464253839","created":true}'),
  ];
  const { client } = await scripted(t, {
    fault: ({ headers }, response) => {
      names.push(headers["idempotency-key"]);
      answers[names.length - 1](response);
      return true;
    },
  });
  assert.equal((await client().submit({ handler: "mail" })).id, "910048318464253839");
  assert.ok(names[0]);
  assert.deepEqual([names[1], names[2]], [names[0], names[0]]);
  assert.notEqual(names[3], names[0]);
});

test("Retry-After is obeyed", async (t) => {
  const times = [];
  const { client } = await scripted(t, {
    fault: (_, response) => {
      times.push(performance.now());
      if (times.length > 1) return response.writeHead(200, AS_A_DAEMON).end('{"id":"1"}');
      return response.writeHead(429, { "Retry-After": "1" }).end();
    },
  });
  await client().get("1");
  assert.ok(times[1] - times[0] >= 990, `${times[1] - times[0]} ms`);
});

test("pauses grow, differ and are bounded", () => {
  const pauses = new Pauses(1000);
  const row = Array.from({ length: 50 }, () => pauses.next());
  assert.ok(row.every((pause) => pause >= 50 && pause <= 1000));
  assert.ok(row.slice(5).every((pause) => pause >= 500));
  assert.ok(new Set(row).size > 10);
  assert.ok(pauses.next({ retryAfterMs: 86_400_000 }) < 600_000, "a wrong Retry-After stops the worker for a day");
});

test("wrong options are refused", () => {
  const was = process.env.EASYRETRY_TOKEN;
  delete process.env.EASYRETRY_TOKEN;
  for (const [options, wrong] of [
    [{ url: "nonsense", token: "x" }, /use one like http:\/\//],
    [{ url: "http://example.com", token: "x" }, /to another machine/],
    [{ url: "http://a:b@localhost", token: "x" }, /leave them out/],
    [{}, /no token/],
    [{ token: "x", tokenFile: "y" }, /not both/],
    [{ tokenFile: "/none" }, /cannot be read/],
  ]) {
    assert.throws(() => new Client(options), wrong);
  }
  if (was !== undefined) process.env.EASYRETRY_TOKEN = was;
});

test("tasks that cannot be stored are refused before they are sent", async () => {
  const client = new Client({ token: "x" });
  const cycle = {};
  cycle.itself = cycle;
  for (const wrong of [9007199254740993n, NaN, () => {}, cycle]) {
    await assert.rejects(client.submit({ handler: "mail", args: [wrong] }), /the arguments for mail cannot be written as JSON/);
  }
  await assert.rejects(client.submit({ handler: "mail", arguments: [] }), /a task has no arguments; there is handler, args/);
  await assert.rejects(client.submit({ handler: "mail", args: "ann" }), /use an array/);
  await assert.rejects(client.submit({}), /no handler/);
  await assert.rejects(client.get(910048318464253839), /an id is a string/); // eslint-disable-line no-loss-of-precision
  await assert.rejects(client.submitAll([{ handler: "a", args: ["x".repeat(9 << 20)] }]), /task 1: .*store less with the task/);
});

test("large submissions are several requests", () => {
  const long = "x".repeat(3 << 20);
  assert.equal(batchesOf([1, 2, 3].map(() => ({ handler: "a", args: [long] }))).length, 2);
  assert.equal(batchesOf(Array.from({ length: 20_000 }, () => ({ handler: "a" }))).length, 2);
});

test("a trace goes out with what a handler submits", () => {
  assert.equal(JSON.parse(withTraceparent(TRACE, () => taskText({ handler: "a" })).text).traceparent, TRACE);
  assert.equal(withTraceparent("nonsense", currentTraceparent), undefined);
});

test("a task is printed without its arguments, and keeps what a newer daemon adds", () => {
  const task = taskOf({ id: "1", handler: "mail", attempts: 1, key: "secret", args: ["secret"], created_at: "2026-03-01T12:00:00.000Z", new_field: 7 });
  assert.doesNotMatch(inspect(task), /secret/);
  assert.equal(task.newField, 7);
  assert.equal(task.createdAt.getTime(), Date.UTC(2026, 2, 1, 12));
});
