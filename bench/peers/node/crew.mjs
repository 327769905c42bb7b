// Worker processes of a peer, or one worker in this process, behind the same functions.
import { fork } from 'node:child_process';
import { Tally, sleep, wall } from './common.mjs';

const PATIENCE = 10 * 60_000; // ms

export class Processes {
  constructor(peerFile, settings) {
    const script = new URL('./worker.mjs', import.meta.url).pathname;
    this.workers = Array.from({ length: settings.processes }, () => {
      const child = fork(script, [JSON.stringify({ peerFile, settings })], { serialization: 'advanced' });
      const worker = { child, ready: false, count: 0, failures: 0, late: [] };
      child.on('message', (message) => {
        worker.ready ||= !!message.ready;
        worker.count = message.count ?? worker.count;
        worker.failures = message.failures ?? worker.failures;
        worker.late.push(...(message.late ?? []));
      });
      return worker;
    });
  }

  async ready() {
    await until('the workers are ready', () => this.workers.every((worker) => worker.ready));
  }
  async go() {
    for (const { child } of this.workers) child.send('go');
  }
  count() {
    return this.workers.reduce((sum, worker) => sum + worker.count, 0);
  }
  failures() {
    return this.workers.reduce((sum, worker) => sum + worker.failures, 0);
  }
  late() {
    return this.workers.flatMap((worker) => worker.late);
  }
}

export class OwnProcess {
  tally = new Tally();

  constructor(peer, settings) {
    Object.assign(this, { peer, settings });
  }
  async ready() {}
  async go() {
    await this.peer.work(this.settings, this.tally);
  }
  count() {
    return this.tally.count;
  }
  late() {
    return this.tally.late;
  }
}

export async function until(what, condition) {
  const end = wall() + PATIENCE;
  while (!(await condition())) {
    if (wall() > end) throw new Error(`too late: ${what}`);
    await sleep(5);
  }
}
