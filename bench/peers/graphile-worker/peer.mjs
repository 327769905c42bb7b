// graphile-worker on PostgreSQL, in its batch mode: a local queue, and jobs that complete and fail in batches.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { POSTGRES } from '../node/common.mjs';

const logger = new Logger(() => () => {});
const TABLE = 'graphile_worker._private_jobs';

async function open({ callers }) {
  const db = new pg.Pool({ connectionString: POSTGRES, max: 2 + callers });
  db.on('error', () => {}); // it warns about a pool that nobody listens to
  db.on('connect', (client) => client.on('error', () => {}));
  const utils = await makeWorkerUtils({ pgPool: db, logger });
  await utils.migrate();
  const spec = ({ id, from, due, fails }) => ({
    identifier: fails ? 'flaky' : 'noop',
    payload: { id, from },
    ...(due ? { runAt: new Date(due) } : {}),
  });
  return {
    addMany: (tasks) => utils.addJobs(tasks.map(spec)),
    add: ({ id, from }) => utils.addJob('noop', { id, from }),
    left: async () => (await db.query(`select 1 from ${TABLE} limit 1`)).rowCount,
    prepare: () => db.query(`analyze ${TABLE}`),
  };
}

async function work({ concurrency, local, batchDelay, poll, connections }, tally) {
  const runner = await run({
    taskList: {
      noop: async ({ from }) => {
        tally.started(from);
        tally.ended();
      },
      flaky: async (_, { job }) => {
        if (job.attempts === 1) {
          tally.failed();
          throw new Error('first attempt fails');
        }
        tally.ended();
      },
    },
    preset: {
      worker: {
        connectionString: POSTGRES, concurrentJobs: concurrency, maxPoolSize: connections, pollInterval: poll, logger,
        localQueue: { size: local }, completeJobBatchDelay: batchDelay, failJobBatchDelay: batchDelay,
      },
    },
  });
  return () => runner.stop();
}

export const peer = {
  name: 'graphile-worker',
  package: 'graphile-worker',
  defaults: { concurrency: 24, local: 2000, batchDelay: 0, poll: 2000, connections: 10 },
  open,
  work,
};
