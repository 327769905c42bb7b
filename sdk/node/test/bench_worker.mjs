// The worker of bench/sdk.py for Node: submits tasks in batches, then runs them with a handler that does nothing.
import { Client, Worker } from "../src/index.js";

const { BENCH_TASKS, BENCH_BATCH, BENCH_SETTLE } = process.env;
const tasks = Number(BENCH_TASKS);
const batch = Number(BENCH_BATCH);
const say = (phase, began) => console.log(JSON.stringify({ phase, seconds: (performance.now() - began) / 1000 }));
const client = new Client();

let began = performance.now();
for (let first = 0; first < tasks; first += batch) {
  await client.submitAll(Array.from({ length: Math.min(batch, tasks - first) }, (_, i) => ({ handler: "bench.nothing", args: [{ n: first + i }] })));
}
say("submit", began);

began = performance.now();
let done = 0;
const worker = new Worker(client, { concurrency: batch });
const nothing = () => {
  if (++done === tasks) void worker.stop();
  else if (done === Math.floor(tasks / 10)) console.log(JSON.stringify({ phase: "tenth" }));
};
worker.handle("bench.nothing", nothing, { inBatches: BENCH_SETTLE === "batches" });
await worker.run(); // it settles the last ones
say("drain", began);
