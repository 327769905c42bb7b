// plainjob on SQLite, within one process, as it is meant to be used. Its own synchronous=NORMAL does not sync commits, so FULL is set:
// every engine here has its tasks on disk before they count. It has no retries.
import Database from 'better-sqlite3';
import { better, defineQueue, defineWorker } from 'plainjob';
import { SQLITE_FILE } from '../node/common.mjs';

const logger = { error: console.error, warn() {}, info() {}, debug() {} };

function openQueue() {
  const db = new Database(SQLITE_FILE);
  const queue = defineQueue({ connection: better(db), logger });
  db.pragma('synchronous = FULL');
  return { db, queue };
}

async function open() {
  const { db, queue } = openQueue();
  return {
    addMany: async (tasks) => {
      if (tasks[0].due === undefined) queue.addMany('noop', tasks);
      else for (const task of tasks) queue.add('noop', task, { delay: Math.max(0, Math.ceil(task.due - Date.now())) });
    },
    add: async (task) => queue.add('noop', task),
    left: async () => db.prepare('select 1 from plainjob_jobs where status in (0, 1) limit 1').get(), // pending, processing
  };
}

async function work({ poll }, tally) {
  const { queue } = openQueue();
  const handle = async (job) => tally.started(JSON.parse(job.data).from);
  const worker = defineWorker('noop', handle, { queue, logger, pollIntervall: poll, onCompleted: () => tally.ended() });
  worker.start();
  return () => worker.stop();
}

export const peer = { name: 'plainjob', package: 'plainjob', defaults: { poll: 5, ahead: 3 }, open, work };
