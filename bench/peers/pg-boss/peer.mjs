// pg-boss on PostgreSQL, by fetch() and complete() of whole batches, because its work() waits between polls. The queue has a partition of
// its own. Completed jobs stay in the table: it has no setting that removes them at once.
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { POSTGRES, sleep } from '../node/common.mjs';

const QUEUE = 'bench';

async function start(connections) {
  const boss = new PgBoss({ connectionString: POSTGRES, supervise: false, schedule: false, max: connections });
  boss.on('error', (error) => console.error('pg-boss:', error.message));
  await boss.start();
  return boss;
}

async function open({ callers }) {
  const db = new pg.Pool({ connectionString: POSTGRES, max: 2 });
  const boss = await start(Math.max(4, callers));
  await boss.createQueue(QUEUE, { partition: true, retryLimit: 3, retryDelay: 0, retryBackoff: false });
  const table = `pgboss.${(await boss.getQueue(QUEUE)).table}`;
  const spec = ({ id, from, due, fails }) => ({ data: { id, from, fails }, ...(due ? { startAfter: new Date(due) } : {}) });
  return {
    addMany: (tasks) => boss.insert(QUEUE, tasks.map(spec)),
    add: ({ id, from }) => boss.send(QUEUE, { id, from }),
    left: async () => (await db.query(`select 1 from ${table} where state < 'completed' limit 1`)).rowCount,
    prepare: () => db.query(`analyze ${table}`),
  };
}

/** Settles one batch. A job fails on its first attempt if it is told to. */
async function settle(boss, jobs, tally) {
  const failed = jobs.filter((job) => job.data.fails && job.retryCount === 0);
  const succeeded = jobs.filter((job) => !failed.includes(job));
  for (let i = 0; i < failed.length; i++) tally.failed();
  for (const job of succeeded) tally.started(job.data.from);
  if (failed.length) await boss.fail(QUEUE, failed.map((job) => job.id));
  if (succeeded.length) await boss.complete(QUEUE, succeeded.map((job) => job.id));
  for (let i = 0; i < succeeded.length; i++) tally.ended();
}

async function work({ fetchers, fetch, connections, work }, tally) {
  const boss = await start(connections);
  let stopped = false;
  const loop = async () => {
    while (!stopped) {
      const jobs = await boss.fetch(QUEUE, { batchSize: fetch, includeMetadata: work === 'cycle' });
      if (jobs?.length) await settle(boss, jobs, tally);
      else await sleep(5);
    }
  };
  for (let i = 0; i < fetchers; i++) loop().catch((error) => console.error('pg-boss:', error.message));
  return async () => {
    stopped = true;
  };
}

export const peer = { name: 'pg-boss', package: 'pg-boss', defaults: { fetchers: 2, fetch: 1000, connections: 10 }, open, work };
