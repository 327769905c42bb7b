// Writes docs/images/dashboard.png: the overview of a daemon that has worked for a while. Takes SECONDS (240); fonts are those
// of the machine: Debian's fonts-inter looks best.
import { chromium } from '@playwright/test';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Daemon } from '../tests/support/daemon.mjs';
import { prepare, round } from '../tests/support/workload.mjs';

const target = fileURLToPath(new URL('../../docs/images/dashboard.png', import.meta.url));
const until = Date.now() + 1000 * Number(process.env.SECONDS ?? 240);
const daemon = await Daemon.start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 952 }, locale: 'en-US', timezoneId: 'UTC' });
  await page.goto(daemon.page);
  await page.getByLabel('Token').fill(daemon.token);
  await page.keyboard.press('Enter');
  await prepare(daemon);
  // Waves of work, and a while in which a third of the attempts fails.
  for (let i = 0; Date.now() < until; i++) {
    await round(daemon, { tasks: 14 + Math.round(9 * Math.sin(i / 7)), share: i % 60 > 38 && i % 60 < 50 ? 0.35 : 0.05 });
    await new Promise((resolve) => setTimeout(resolve, 900));
  }
  await page.reload();
  await page.locator('.chart canvas').nth(3).waitFor();
  await page.waitForTimeout(1500);
  await page.screenshot({ path: target });
  console.log(`${target}: ${Math.round(statSync(target).size / 1000)} kB`);
} finally {
  await browser.close();
  await daemon.end();
}
