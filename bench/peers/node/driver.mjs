// driver.mjs PEER_FILE WORK key=value…: measures a Node peer and prints one JSON object.
//
// WORK is enqueue, drain, cycle, lateness, latency-own or latency-other. A peer file exports `peer`:
//   name, package, defaults      settings that the command line may change
//   open(settings)               a producer: addMany(tasks), add(task), left(), optionally prepare(); task: {id, from, due, fails}
//   work(settings, tally)        runs tasks until the function that it returns is called
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSettings, sleep, spread, wall } from './common.mjs';
import { OwnProcess, Processes, until } from './crew.mjs';

const WARM_UP = 1500; // ms until idle workers wait for news
const AHEAD = 5000; // ms to store tasks before the first is due, and settings.ahead more for each

const peerFile = resolve(process.argv[2]);
const { peer } = await import(peerFile);
const settings = readSettings(process.argv.slice(3), peer.defaults);
const producer = await peer.open(settings);

const makeTasks = (first, count, more) => Array.from({ length: count }, (_, i) => ({ id: first + i, ...more(first + i) }));

/** Stores all tasks in batches, `callers` batches at once. */
async function enqueue(more = () => ({}), callers = settings.callers) {
  let next = 0;
  const caller = async () => {
    while (next < settings.tasks) {
      const first = next;
      next += settings.batch;
      await producer.addMany(makeTasks(first, Math.min(settings.batch, settings.tasks - first), more));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Sends one task after the other at the rate, without waiting for one before the next. */
async function pace() {
  const began = wall();
  const sent = [];
  for (let id = 0; id < settings.tasks; id++) {
    while (wall() < began + (id * 1000) / settings.rate) await sleep(1);
    sent.push(producer.add({ id, from: wall() }));
  }
  await Promise.all(sent);
}

async function finished(crew) {
  await until('all tasks have run', () => crew.count() >= settings.tasks);
  await until('the store is empty', async () => !(await producer.left()));
}

async function seconds(work) {
  const began = wall();
  await work();
  return { seconds: (wall() - began) / 1000 };
}

async function drain(more) {
  const crew = new Processes(peerFile, settings);
  await crew.ready();
  await enqueue(more, 1);
  await producer.prepare?.();
  const result = await seconds(async () => {
    await crew.go();
    await finished(crew);
  });
  return { ...result, failures: crew.failures() };
}

async function lateness() {
  const crew = new Processes(peerFile, settings);
  await crew.ready();
  const first = wall() + AHEAD + settings.tasks * settings.ahead;
  const due = (id) => first + (id * settings.over * 1000) / settings.tasks;
  await enqueue((id) => ({ from: due(id), due: due(id) }), 1);
  if (wall() > first) throw new Error('the first task was due before all were stored; raise ahead=');
  await crew.go();
  await finished(crew);
  await sleep(50); // the last report of the workers
  return { late_ms: spread(crew.late()) };
}

async function latency(crew) {
  await crew.ready();
  await crew.go();
  await sleep(WARM_UP);
  await pace();
  await until('all tasks have run', () => crew.count() >= settings.tasks);
  return { late_ms: spread(crew.late()) };
}

const works = {
  enqueue: () => seconds(enqueue),
  drain: () => drain(() => ({})),
  cycle: () => drain(() => ({ fails: true })),
  lateness,
  'latency-own': () => latency(new OwnProcess(peer, settings)),
  'latency-other': () => latency(new Processes(peerFile, settings)),
};
if (!works[settings.work]) {
  console.error(`${settings.work} is not one of ${Object.keys(works).join(', ')}`);
  process.exit(2);
}
const { version } = JSON.parse(readFileSync(new URL(`./node_modules/${peer.package}/package.json`, `file://${peerFile}`)));
const result = await works[settings.work]();
const rate = result.seconds ? { per_s: settings.tasks / result.seconds } : {};
console.log(JSON.stringify({ peer: peer.name, version, work: settings.work, tasks: settings.tasks, ...result, ...rate }));
process.exit(0); // stopping is not measured
