// A server that lends some tasks once and writes down how they are settled.
import { createServer } from "node:http";

import { Client, Worker } from "../src/index.js";

export const PATIENCE_MS = 30_000;
export const quiet = { info() {}, warn() {}, error() {} };

/** The headers of a daemon's answer. */
export const AS_A_DAEMON = { "Content-Type": "application/json", "easyretry-time": "2026-03-01T12:00:00.000Z" };

export function taskJson(number, handler = "mail", args = []) {
  return { id: `910048318464253${100 + number}`, version: 2, handler, key: `k${number}`, attempts: 1, args, from_the_future: { x: 1 } };
}

/** A queue whose take() waits. */
export class Notes {
  #notes = [];
  #takers = [];

  put(note) {
    this.#notes.push(note);
    this.#match();
  }

  get size() {
    return this.#notes.length;
  }

  take() {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("nothing came")), PATIENCE_MS);
      this.#takers.push((note) => (clearTimeout(timer), resolve(note)));
      this.#match();
    });
  }

  #match() {
    while (this.#notes.length > 0 && this.#takers.length > 0) this.#takers.shift()(this.#notes.shift());
  }
}

/** `fault(request, response)` may answer instead; it returns whether it did. */
export async function scripted(t, { tasks = [], fault } = {}) {
  const daemon = { settled: new Notes(), asked: new Notes(), tasks };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (fault?.(request, response, body)) return;
    answer(daemon, request, response, body);
  });
  server.httpAllowHalfOpen = true; // as the daemon: a worker that stops only stops sending
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  daemon.url = `http://127.0.0.1:${server.address().port}`;
  daemon.client = (options) => new Client({ url: daemon.url, token: "er_secret", ...options });
  return daemon;
}

function answer(daemon, { url }, response, body) {
  const say = (value) => response.writeHead(200, AS_A_DAEMON).end(typeof value === "string" ? value : JSON.stringify(value));
  const [, , , id, verb] = url.split("/");
  if (url === "/v1/leases") {
    daemon.asked.put(body);
    const lent = daemon.tasks.splice(0);
    if (lent.length > 0) return say({ tasks: lent, newer: true });
    const timer = setTimeout(() => say({ tasks: [] }), PATIENCE_MS);
    response.socket.once("end", () => say({ tasks: [] })); // it hung up
    response.once("close", () => clearTimeout(timer));
  } else if (id === "settle" || id === "renew") {
    const many = JSON.parse(body).tasks;
    for (const one of many) if (one.kind) daemon.settled.put(`${one.id} ${one.kind}`);
    say({ applied: many.map(() => true) });
  } else {
    daemon.settled.put(`${id} ${verb} ${body}`);
    say({ id, outcome: "succeeded" });
  }
}

export function refuse(response, status, code = "refused", message = "") {
  response.writeHead(status, AS_A_DAEMON).end(JSON.stringify({ error: { code, message } }));
  return true;
}

/** A worker that runs until the test ends. */
export function running(t, client, handler, { options, ...workerOptions } = {}) {
  const worker = new Worker(client, { logger: quiet, drainMs: 1000, ...workerOptions }).handle("mail", handler, options);
  const ended = worker.run();
  t.after(() => worker.stop());
  return { worker, ended };
}
