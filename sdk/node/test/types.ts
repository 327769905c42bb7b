// Compiled, not run: the types allow what the README shows, and refuse mistakes.
import { Client, GiveUp, Worker, type Task } from "../src/index.js";
import { FakeDaemon } from "../src/testing.js";

const client = new Client({ url: "http://127.0.0.1:7077", token: "er_…", caFile: "ca.pem" });
const worker: Worker = new Worker(client, { concurrency: 100 }).handle("mail.send", async ({ args: [mail], signal, progress }) => {
  if (!mail.to) throw new GiveUp("no address");
  signal.throwIfAborted();
  progress("half");
  return { sent: true };
}, { inBatches: true });
const id: Promise<string> = client.submit({ handler: "mail.send", args: [{ to: "ann" }], class: "urgent", policy: { maxAttempts: 3 } }).then((stored) => stored.id);
const task: Promise<Task> = id.then((one) => client.wait(one, { timeoutMs: 1000 }));
const fake = new FakeDaemon();
void fake.runNext(worker).then((attempt) => (attempt?.ok ? attempt.result : attempt?.error));
void task;
// @ts-expect-error: an id is a string
void client.get(910048318464253839);
// @ts-expect-error: no such class
void client.submit({ handler: "a", class: "high" });
// @ts-expect-error: a misspelt option
void client.submit({ handler: "a", arguments: [] });
