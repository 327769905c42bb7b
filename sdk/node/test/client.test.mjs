import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { Client, currentTraceparent, Refusal, Unanswered, withTraceparent } from "../src/index.js";
import { parsed } from "../src/answer.js";
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

test("an answer that does not end is not held", async (t) => {
  const failure = await failureAt(t, async (_, response) => {
    response.writeHead(200, AS_A_DAEMON);
    const piece = Buffer.alloc(1 << 20, " ");
    for (let sent = 0; sent < 200 && !response.destroyed; sent++) {
      await new Promise((resolve) => response.write(piece, resolve));
    }
    response.end('{"id":"1"}');
  });
  assert.match(failure.message, /is not an EasyRetry daemon of this version .*more than 67108864 bytes/);
});

test("versions of tasks keep their digits, and arguments stay as they are", () => {
  const long = "9007199254740993";
  const task = (version, args) => `{"id":"1","tags":["version","a\\\\"],"version":${version},"args":${args}}`;
  assert.equal(parsed(task(long, "[]")).version, long);
  assert.equal(parsed(`{"tasks":[${task(long, "[]")},${task("7", "[]")}],"x":1}`).tasks[0].version, long);
  assert.equal(parsed(`{ "tasks" : [ { "version" : ${long} } ] }`).tasks[0].version, long);
  assert.equal(parsed(task("9007199254740991", "[]")).version, 9007199254740991);
  for (const args of ['[{"version":1234567890123456.5}]', '[{"version":1234567890123456e5}]', `[{"version":${long}}]`, `{"version":${long}}`,
    `["\\"version\\":${long}"]`, `[{"tasks":[{"version":${long}}]}]`]) {
    for (const version of ["2", long]) {
      for (const text of [task(version, args), `{"tasks":[${task(version, args)}]}`]) {
        const one = parsed(text).tasks?.[0] ?? parsed(text);
        assert.deepEqual(one.args, JSON.parse(args), text);
        assert.equal(String(one.version), version);
      }
    }
  }
  for (const wrong of ['{"version":12345678901234567', '{"version":12345678901234567}}', '{"a":"', '"version":12345678901234567,"', "<html>"]) {
    assert.equal(parsed(wrong), undefined, wrong);
  }
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

test("the token file and the authority may come from the environment", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "easyretry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], { cwd: folder, stdio: "ignore" });
  const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder, name)));
  const seen = [];
  const server = createTlsServer({ cert, key }, ({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(200, AS_A_DAEMON).end('{"id":"1","tasks":[]}');
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const url = `https://127.0.0.1:${server.address().port}`;
  writeFileSync(join(folder, "token"), "of-the-file\n");
  const set = (variables) => Object.entries(variables).forEach(([name, value]) => (value === undefined ? delete process.env[name] : (process.env[name] = value)));
  const { EASYRETRY_TOKEN, EASYRETRY_TOKEN_FILE, EASYRETRY_CA_FILE } = process.env;
  t.after(() => set({ EASYRETRY_TOKEN, EASYRETRY_TOKEN_FILE, EASYRETRY_CA_FILE }));

  set({ EASYRETRY_TOKEN: undefined, EASYRETRY_TOKEN_FILE: join(folder, "token"), EASYRETRY_CA_FILE: undefined });
  const unknown = await failureOf(new Client({ url, retryForMs: 0 }));
  assert.match(unknown.message, /the certificate of .* is not trusted .*EASYRETRY_CA_FILE/);
  assert.equal((await new Client({ url, caFile: join(folder, "cert.pem") }).get("1")).id, "1");
  set({ EASYRETRY_CA_FILE: join(folder, "cert.pem") });
  assert.equal((await new Client({ url }).get("1")).id, "1");
  set({ EASYRETRY_TOKEN: "of-the-variable" });
  const client = new Client({ url });
  await client.get("1");
  await new Client({ url, token: "given" }).get("1");
  assert.deepEqual(seen, ["Bearer of-the-file", "Bearer of-the-file", "Bearer of-the-variable", "Bearer given"]);

  const line = client.connection.lineUntil(new AbortController().signal);
  assert.deepEqual((await client.connection.ask({ path: "/v1/leases", body: "{}", line })).body.tasks, []);
  line.close();
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
    [{ url: "https://localhost", token: "x", caFile: "/none" }, /caFile: \/none cannot be read/],
    [{ url: "https://localhost", token: "x", caFile: "/dev/null" }, /contains no certificate/],
    [{ token: "x", requestTimeoutMs: 2 ** 31 }, /requestTimeoutMs is 2147483648; .* 24 days/],
    [{ token: "x", requestTimeoutMs: NaN }, /requestTimeoutMs/],
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

test("a submission has its class, and what its policy leaves out is left out", () => {
  const sent = JSON.parse(taskText({ handler: "a", class: "urgent", policy: { maxAttempts: 0, backoff: undefined } }).text);
  assert.deepEqual(sent, { handler: "a", class: "urgent", policy: { max_attempts: 0 } });
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
