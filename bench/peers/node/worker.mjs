// A process that runs a peer's tasks: connects, says that it is ready, and begins when told.
import { Tally } from './common.mjs';

const { peerFile, settings } = JSON.parse(process.argv[2]);
const { peer } = await import(peerFile);
const tally = new Tally();
let stop = async () => {};

function report() {
  process.send({ count: tally.count, failures: tally.failures, late: tally.late.splice(0) });
}

process.on('message', async (message) => {
  if (message === 'go') {
    stop = await peer.work(settings, tally);
    setInterval(report, 10);
  }
  if (message === 'stop') {
    await stop().catch(() => {});
    process.exit(0);
  }
});
process.on('disconnect', () => process.exit(1));
process.send({ ready: true });
