// Alerts, the audit log and tokens: who is told, who changed what, who may.
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

test('a channel is tested with a button, and the message is listed', async ({ open }) => {
  const page = await open('/alerts');
  await page.getByRole('button', { name: 'Send a test message to ops' }).click();
  await expect(page.getByText('The test message to ops arrived')).toBeVisible();
  await expect(page.locator('.messages li').filter({ hasText: 'this is a test' }).first()).toContainText('arrived');
  await page.getByRole('button', { name: 'Send a test message to oncall' }).click();
  await expect(page.getByText(/The test message to oncall did not arrive: /)).toBeVisible();
  await expect(page.locator('.messages li').first()).toContainText('did not arrive after 1 try');
  expect(await page.content()).not.toContain('secret-canary');
});

test('what was told is listed, and leads to its task', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('payment.oversight'));
  await daemon.work('payment.oversight', () => ({ error: 'no funds', give_up: true }));
  const page = await open('/alerts');
  const message = page.locator('.messages li').filter({ hasText: 'payment.oversight: 1 final failure' });
  await expect(message).toContainText('firing');
  await message.getByRole('link', { name: id }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'payment.oversight' })).toBeVisible();
});

test('the audit log says who changed what, and leads to the task', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('oversight.audit', { delay_ms: 3_600_000 }));
  await daemon.call('POST', `/v1/tasks/${id}/cancel?untold=true`, {});
  await daemon.call('POST', '/v1/handlers/oversight.audit/pause', { why: '<b>gateway</b> down' });
  const page = await open('/audit');
  await expect(page.getByRole('row').nth(1)).toContainText('<b>gateway</b> down');
  await page.getByRole('searchbox', { name: 'Find by token' }).fill(`${id}/cancel`);
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('row').nth(1)).toContainText('first');
  await page.getByRole('link', { name: `POST /v1/tasks/${id}/cancel` }).click();
  await expect(page.getByText('It was cancelled')).toBeVisible();
});

test('admins see the tokens, without secrets', async ({ open, daemon }) => {
  const secret = daemon.tokenFor('submitter', 'shop');
  const page = await open('/access');
  await expect(page.getByRole('row', { name: /submitter-shop/ })).toContainText('shop');
  await expect(page.getByRole('row', { name: /first You/ })).toContainText('admin+payloads');
  expect(await page.content()).not.toContain(secret);
});

test('an operator tests channels, and is not offered the audit log or tokens', async ({ watched, daemon }) => {
  await logIn(watched, daemon.page, daemon.tokenFor('operator'), '/alerts');
  await expect(watched.getByRole('button', { name: 'Send a test message to ops' })).toBeVisible();
  await expect(watched.getByRole('link', { name: 'Audit log' })).toHaveCount(0);
  await goTo(watched, '/audit');
  await expect(watched.getByText('Only a token with the role admin')).toBeVisible();
  await goTo(watched, '/access');
  await expect(watched.getByRole('heading', { level: 2, name: 'Create and revoke' })).toBeVisible();
  await expect(watched.getByRole('heading', { level: 2, name: 'Tokens' })).toHaveCount(0);
});

test('a viewer sees alerts, and tests nothing', async ({ watched, daemon }) => {
  await logIn(watched, daemon.page, daemon.tokenFor('viewer'), '/alerts');
  await expect(watched.getByRole('cell', { name: 'http://127.0.0.1' }).first()).toBeVisible();
  await expect(watched.getByRole('button', { name: /Send a test/ })).toHaveCount(0);
});

test('one tab follows the events for all, and another one takes over', async ({ open, daemon, context }) => {
  const first = await open('/tasks?handler=tabs.one');
  await expect(first.locator('.liveness')).toContainText('live');
  const second = await context.newPage();
  let streams = 0;
  second.on('request', (request) => request.url().includes('/v1/events') && streams++);
  await second.goto(`${daemon.page}/#/tasks?handler=tabs.one`);
  await expect(second.getByText('No task matches')).toBeVisible();
  await daemon.submit(task('tabs.one', { key: 'for both', delay_ms: 3_600_000 }));
  await expect(first.getByText('for both')).toBeVisible();
  await expect(second.getByText('for both')).toBeVisible();
  expect(streams).toBe(0);

  const follows = second.waitForRequest((request) => request.url().includes('/v1/events'));
  await first.close();
  await (await follows).response(); // the stream is open
  await daemon.submit(task('tabs.one', { key: 'for the second', delay_ms: 3_600_000 }));
  await expect(second.getByText('for the second')).toBeVisible();
});
