// A daemon for each file of tests, and a page that is logged in. Every test fails if the page logs an error, breaks its
// Content-Security-Policy or asks another host.
import { test as base, expect, type Page } from '@playwright/test';
import { Daemon } from '../support/daemon.mjs';

interface Fixtures {
  open: (path?: string) => Promise<Page>;
  watched: Page;
  allowed: RegExp[]; // messages of the console that a test expects
}

interface WorkerFixtures {
  daemon: Daemon;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  daemon: [
    async ({}, use) => {
      const daemon = await Daemon.start();
      await use(daemon);
      await daemon.end();
    },
    { scope: 'worker' },
  ],
  allowed: async ({}, use) => use([]),

  watched: async ({ page, daemon, allowed }, use) => {
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Chromium logs every refused request; refusals are checked by what the page shows.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(daemon.page) && !request.url().startsWith('data:')) complaints.push(`asked ${request.url()}`);
    });
    await use(page);
    expect(complaints.filter((text) => !allowed.some((pattern) => pattern.test(text)))).toEqual([]);
  },

  open: async ({ watched, daemon }, use) => {
    await use(async (path = '/') => {
      await logIn(watched, daemon.page, daemon.token, path);
      return watched;
    });
  },
});

export { expect };

export async function logIn(page: Page, url: string, token: string, path = '/'): Promise<void> {
  await page.goto(`${url}/#${path}`);
  await page.getByLabel('Token').or(page.getByLabel('令牌')).fill(token);
  await page.keyboard.press('Enter');
  await expect(page.locator('.shell main, main.alone').first()).toBeVisible();
}

export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => (window.location.hash = to), path);
}
