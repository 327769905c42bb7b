import { defineConfig } from '@playwright/test';

// Debian's Chromium, so that nothing is downloaded. The machine that runs ./test is busy: the limits are generous.
export default defineConfig({
  testDir: 'tests/browser',
  outputDir: 'test-results/sqlite',
  fullyParallel: false,
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list']],
  use: {
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    timezoneId: 'UTC',
    screenshot: 'only-on-failure',
  },
});
