// BullMQ on Redis. Finished jobs are removed at once; a failed one is due again at once.
import { Queue, Worker } from 'bullmq';
import { REDIS } from '../node/common.mjs';

const connection = { ...REDIS, maxRetriesPerRequest: null };

async function open() {
  const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } });
  queue.on('error', (error) => console.error('BullMQ:', error.message));
  await queue.waitUntilReady();
  const spec = ({ id, from, due, fails }) => ({
    name: 'noop',
    data: { id, from, fails },
    opts: { ...(due ? { delay: Math.max(0, Math.ceil(due - Date.now())) } : {}), ...(fails ? { attempts: 3 } : {}) },
  });
  return {
    addMany: (tasks) => queue.addBulk(tasks.map(spec)),
    add: ({ id, from }) => queue.add('noop', { id, from }),
    async left() {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'paused');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
  };
}

async function work({ concurrency }, tally) {
  const handle = async (job) => {
    if (job.data.fails && job.attemptsMade === 0) {
      tally.failed();
      throw new Error('first attempt fails');
    }
    tally.started(job.data.from);
  };
  const worker = new Worker('bench', handle, { connection, concurrency, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } });
  worker.on('error', (error) => console.error('BullMQ:', error.message));
  worker.on('completed', () => tally.ended());
  await worker.waitUntilReady();
  return () => worker.close(true);
}

export const peer = { name: 'BullMQ', package: 'bullmq', defaults: { concurrency: 100 }, open, work };
