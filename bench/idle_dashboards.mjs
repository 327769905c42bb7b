// node bench/idle_dashboards.mjs [SECONDS]: what ten open dashboards cost a daemon on which nothing happens.
//
// Starts a daemon on SQLite with a thousand waiting tasks and a history, and ten browsers, each on another page. Prints the
// processor time of the daemon, in percent of a core, without and with them, and its requests per second. Needs the packages
// of web/package-lock.json, Chromium and a built program (EASYRETRY_PROGRAM).
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from '../web/node_modules/@playwright/test/index.mjs';
import { Daemon } from '../web/tests/support/daemon.mjs';
import { prepare, task } from '../web/tests/support/workload.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const PAGES = ['/', '/', '/', '/tasks', '/history', '/errors', '/handlers', '/instances', '/events', '/alerts'];
const TICKS_PER_SECOND = 100; // of /proc on Linux
const LIMIT = 2; // percent of a core

function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND; // utime, stime
}

async function percentOfACore(pid) {
  const before = cpuSeconds(pid);
  const began = performance.now();
  await pause(1000 * SECONDS);
  return (100_000 * (cpuSeconds(pid) - before)) / (performance.now() - began);
}

const daemon = await Daemon.start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  await prepare(daemon);
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 1000 }, () => task('later', { delay_ms: 86_400_000 })) });
  const { pid } = daemon.process;
  await pause(10_000); // no worker is left
  const alone = await percentOfACore(pid);
  let requests = 0;
  for (const path of PAGES) {
    const page = await (await browser.newContext({ locale: 'en-US' })).newPage(); // a browser of its own: nothing is shared
    page.on('request', () => requests++);
    await page.goto(`${daemon.page}/#${path}`);
    await page.getByLabel('Token').fill(daemon.token);
    await page.keyboard.press('Enter');
    await page.locator('.shell main h1').first().waitFor();
  }
  await pause(5_000);
  requests = 0;
  const watched = await percentOfACore(pid);
  const rate = requests / SECONDS;
  const cost = watched - alone;
  console.log(`alone ${alone.toFixed(2)} %, with ${PAGES.length} dashboards ${watched.toFixed(2)} % of a core: ${cost.toFixed(2)} %`);
  console.log(`${rate.toFixed(1)} requests per second; at most ${LIMIT} % are allowed: ${cost <= LIMIT ? 'kept' : 'exceeded'}`);
  process.exitCode = cost <= LIMIT ? 0 : 1;
} finally {
  await browser.close();
  await daemon.end();
}
