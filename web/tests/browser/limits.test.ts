// The limits on the page of handlers: what they allow and hold back, and what a held task says.
import { task } from '../support/workload.mjs';
import { expect, goTo, test } from './fixtures';

test('a limit shows what it allows and holds back, and a held task leads to it', async ({ open, daemon }) => {
  await daemon.submit(task('limited.report', { key: 'runs' }));
  const { id } = await daemon.submit(task('limited.report', { key: 'waits' }));
  const ask = () => daemon.call('POST', '/v1/leases', { handlers: ['limited.report'], max: 1, wait_ms: 1000 });
  const { tasks } = await ask();
  expect(tasks).toHaveLength(1);
  const waiting = tasks[0].id === id ? (await daemon.call('GET', '/v1/tasks?key=runs')).tasks[0].id : id;

  const page = await open('/handlers');
  const row = page.getByRole('table', { name: 'Limits' }).getByRole('row', { name: /limited\.report/ });
  await expect(async () => {
    expect((await ask()).tasks).toHaveLength(0);
    await page.reload();
    await expect(row).toContainText('holds tasks back', { timeout: 4_000 });
  }).toPass();
  await expect(row.getByRole('cell').nth(2)).toHaveText('1');
  await expect(row.getByRole('cell').nth(3)).toHaveText('2.5');
  await expect(row.getByRole('cell').nth(5)).toHaveText('1 of 1');

  await goTo(page, `/task/${waiting}`);
  await expect(page.getByText('a limit of its handler or circuit holds it back')).toBeVisible();
  const held = page.locator('.held-by');
  await expect(held).toContainText('Limit of the handler limited.report');
  await expect(held).toContainText('1 at a time, 2.5/s, on all instances together');
  await expect(held).toContainText(/holds tasks back since .*ago/);
  await page.getByRole('link', { name: 'Show the limits' }).click();
  await expect(row).toBeVisible();
});

test('an operator limits a handler that has no limit, and resets it', async ({ open, daemon }) => {
  await daemon.submit(task('unlimited.report', { key: 'waits', delay_ms: 3_600_000 }));
  const page = await open('/handlers');
  const handler = page.getByRole('row', { name: /unlimited\.report/ }).first();
  await handler.getByRole('button', { name: 'Limit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Limit unlimited.report?' });
  await dialog.getByLabel('Burst').fill('5');
  await dialog.getByRole('button', { name: 'Limit' }).click();
  await expect(dialog).toContainText('say running, per_second or both');
  await dialog.getByLabel('Burst').fill('');
  await dialog.getByLabel('At a time').fill('3');
  await dialog.getByLabel('Reason').fill('it is slow today');
  await dialog.getByRole('button', { name: 'Limit' }).click();
  await expect(dialog).toHaveCount(0);

  const row = page.getByRole('table', { name: 'Limits' }).getByRole('row', { name: /unlimited\.report/ });
  await expect(row).toContainText('it is slow today');
  await expect(row.getByRole('cell').nth(2)).toHaveText('3');
  const { limits } = await daemon.call('GET', '/v1/limits');
  expect(limits.find((limit: { subject: string }) => limit.subject === 'handler unlimited.report').order.running).toBe(3);

  await row.getByRole('button', { name: 'Reset' }).click();
  await expect(row).toHaveCount(0);
});

test('without limits there is nothing to explain', async ({ open }) => {
  const page = await open('/settings');
  const answered = page.waitForResponse('**/v1/limits');
  await page.route('**/v1/limits', (route) => route.fulfill({ json: { limits: [] } }));
  await goTo(page, '/handlers');
  await answered;
  await expect(page.getByRole('heading', { level: 1, name: 'Handlers' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Limits' })).toHaveCount(0);
});
