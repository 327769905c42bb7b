// What makes the page comfortable: settings, copy buttons, filters of events; and what stops a guesser of tokens.
import type { Page } from '@playwright/test';
import { Daemon } from '../support/daemon.mjs';
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test('the number of rows per page is kept', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 30 }, () => task('comfort.rows', { delay_ms: 3_600_000 })) });
  const page = await open('/settings');
  await page.getByLabel('Rows per page').selectOption('25');
  await goTo(page, '/tasks?handler=comfort.rows');
  await expect(page.getByRole('row')).toHaveCount(26);
  await page.reload();
  await expect(page.getByRole('row')).toHaveCount(26);
  await page.getByRole('button', { name: 'Show older' }).click();
  await expect(page.getByRole('row')).toHaveCount(31);
});

test('times are in the chosen zone, also those that are typed', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('comfort.zone', { due_at: '2030-01-01T12:00:00Z' }));
  const page = await open('/settings');
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await goTo(page, `/task/${id}`);
  await expect(page.getByRole('complementary', { name: 'Details' })).toContainText('Jan 1, 2030, 21:00:00 GMT+9');
  await goTo(page, '/tasks?handler=comfort.zone');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Due from').fill('2030-01-01T21:00');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page).toHaveURL(/due_from=2030-01-01T12%3A00%3A00/);
  await expect(page.getByRole('row')).toHaveCount(2);
});

test('charts show the hour, or the day', async ({ open }) => {
  const page = await open('/handler?name=comfort.zone');
  const range = page.getByRole('region', { name: 'Over time' }).getByRole('group', { name: 'Time range' });
  const asked = page.waitForRequest((request) => request.url().includes('/v1/series') && request.url().includes('step=1m'));
  await range.getByRole('button', { name: 'Day' }).click();
  await asked;
  await expect(range.getByRole('button', { name: 'Day' })).toHaveAttribute('aria-pressed', 'true');
  await range.getByRole('button', { name: 'Hour' }).click();
  await expect(range.getByRole('button', { name: 'Day' })).toHaveAttribute('aria-pressed', 'false');
});

test('events are filtered by kind, and the list is cleared', async ({ open, daemon }) => {
  const page = await open('/events?handler=comfort.events');
  const kinds = page.getByRole('group', { name: 'Kinds of events' });
  await kinds.getByRole('button', { name: 'cancelled' }).click();
  await expect(page).toHaveURL(/kind=cancelled/);
  await expect(page.locator('main').getByText('live', { exact: true })).toBeVisible();
  const { id } = await daemon.submit(task('comfort.events', { key: 'watched', delay_ms: 3_600_000 }));
  await daemon.call('POST', `/v1/tasks/${id}/cancel?untold=true`, {});
  const lines = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText('cancelled');
  await page.getByRole('button', { name: 'Clear the list' }).click();
  await expect(page.getByText('Waiting for events')).toBeVisible();
  await kinds.getByRole('button', { name: 'cancelled' }).click();
  await expect(page).not.toHaveURL(/kind=/);
});

test('ids and commands are copied', async ({ open, daemon, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await daemon.submit(task('comfort.copy', { delay_ms: 3_600_000 }));
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Copy the id' }).click();
  expect(await clipboard(page)).toBe(id);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  expect(await clipboard(page)).toContain(`/v1/tasks/${id}'`);
  expect(await clipboard(page)).not.toContain(daemon.token);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  expect(JSON.parse(await clipboard(page))[0].order).toMatch(/^\d+$/);
});

test('after many wrong tokens, the page says when to try again', async ({ browser }) => {
  const other = await Daemon.start(); // the lock-out is of an address, which all tests share
  try {
    const page = await browser.newPage({ locale: 'en-US' });
    await page.goto(other.page);
    await expect(async () => {
      await page.getByLabel('Token').fill('er_wrong');
      await page.getByRole('button', { name: 'Log in' }).click();
      await expect(page.getByRole('alert')).toContainText(/Too many attempts\. Try again in \d/, { timeout: 1_000 });
    }).toPass({ intervals: [10] });
    await page.getByLabel('Token').fill(other.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByRole('alert')).toContainText('Too many attempts');
    await page.close();
  } finally {
    await other.end();
  }
});

test('a viewer sees limits, and changes none', async ({ watched, daemon }) => {
  await daemon.submit(task('limited.report'));
  await daemon.work('limited.report', () => undefined);
  await logIn(watched, daemon.page, daemon.tokenFor('viewer'), '/handlers');
  const row = watched.getByRole('table', { name: 'Limits' }).getByRole('row', { name: /limited\.report/ });
  await expect(row).toContainText('2.5');
  await expect(watched.locator('main').getByRole('button', { name: /Limit|Reset/ })).toHaveCount(0);
});
