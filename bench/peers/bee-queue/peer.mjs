// bee-queue on Redis, without events, stored jobs or finished jobs, as its documentation advises for throughput.
import Queue from 'bee-queue';
import { REDIS } from '../node/common.mjs';

const LEAN = {
  redis: REDIS, getEvents: false, sendEvents: false, storeJobs: false, removeOnSuccess: true, removeOnFailure: true, delayedDebounce: 5,
};

async function open() {
  const queue = new Queue('bench', { ...LEAN, isWorker: false });
  await queue.ready();
  const job = ({ id, from, due, fails }) => {
    const made = queue.createJob({ id, from });
    if (due) made.delayUntil(Math.ceil(due));
    return fails ? made.retries(2).backoff('immediate') : made;
  };
  return {
    async addMany(tasks) {
      const errors = await queue.saveAll(tasks.map(job));
      if (errors.size) throw [...errors.values()][0];
    },
    add: (task) => job(task).save(),
    async left() {
      const health = await queue.checkHealth();
      return health.waiting + health.active + health.delayed;
    },
  };
}

async function work({ concurrency, work }, tally) {
  const queue = new Queue('bench', { ...LEAN, isWorker: true, activateDelayedJobs: work !== 'drain' });
  queue.on('error', (error) => console.error('bee-queue:', error.message));
  queue.on('succeeded', () => tally.ended());
  await queue.ready();
  queue.process(concurrency, async (job) => {
    if (work === 'cycle' && job.options.retries === 2) {
      tally.failed();
      throw new Error('first attempt fails');
    }
    tally.started(job.data.from);
  });
  return () => queue.close(1000);
}

export const peer = { name: 'bee-queue', package: 'bee-queue', defaults: { concurrency: 100 }, open, work };
