// One cookie and several tabs: who is logged in, what a change says after another tab has logged in, and logging out that must not
// only look like it.
import type { Page } from '@playwright/test';
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

async function logInHere(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
}

// Another session in the same browser, of which no other tab hears.
async function replaceSession(page: Page, token: string): Promise<void> {
  const status = await page.evaluate(
    async (given) =>
      (await fetch('./v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: given }) }))
        .status,
    token,
  );
  expect(status).toBe(200);
}

test('a change after another tab has logged in is refused once, says so, and then works', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('session.tabs', { delay_ms: 3_600_000 }));
  const page = await open(`/task/${id}`);
  await replaceSession(page, daemon.token);
  let sent = 0;
  page.on('request', (request) => request.url().includes('/cancel') && sent++);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByLabel('Do not call callbacks').check();
  const cancel = page.getByRole('dialog').getByRole('button', { name: 'Cancel' });
  await cancel.click();
  await expect(page.getByRole('alert')).toContainText('Another tab of this browser has logged in again. Nothing was changed');
  expect(sent).toBe(1);
  expect((await daemon.call('GET', `/v1/tasks/${id}`)).state).toBe('pending');
  await cancel.click();
  await expect(page.getByText('It was cancelled')).toBeVisible();
  expect(sent).toBe(2);
});

test('all tabs know who is logged in, and who no longer is', async ({ open, daemon, context }) => {
  const first = await open('/tasks');
  const second = await context.newPage();
  await second.goto(`${daemon.page}/#/handlers`);
  await expect(second.locator('.self')).toContainText('admin');
  await second.getByRole('button', { name: 'Log out' }).click();
  await expect(first.getByLabel('Token')).toBeVisible();
  await logInHere(second, daemon.tokenFor('viewer'));
  await expect(first.locator('.self')).toContainText('viewer');
  await expect(first.getByRole('link', { name: 'Audit log' })).toHaveCount(0);
  await expect(second.locator('.self')).toContainText('viewer');
});

test('after a restart, one log in is enough for two tabs', async ({ open, daemon, context }) => {
  const { id } = await daemon.submit(task('session.restart', { delay_ms: 3_600_000 }));
  const first = await open(`/task/${id}`);
  const second = await context.newPage();
  await second.goto(`${daemon.page}/#/tasks`);
  await expect(second.locator('.self')).toContainText('admin');
  await daemon.stop();
  await daemon.run();
  for (const page of [first, second]) await expect(page.getByRole('dialog', { name: 'Your session has ended' })).toBeVisible();
  await logInHere(second, daemon.token);
  await expect(first.getByRole('dialog')).toHaveCount(0);
  await first.getByRole('button', { name: 'Cancel', exact: true }).click();
  await first.getByLabel('Do not call callbacks').check();
  await first.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(first.getByText('It was cancelled')).toBeVisible();
});

test('logging out ends the session also after another tab has logged in', async ({ open, daemon }) => {
  const page = await open();
  await replaceSession(page, daemon.token);
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByLabel('Token')).toBeVisible();
  expect((await page.request.get(`${daemon.page}/v1/handlers`)).status()).toBe(401);
});

test('logging out that does not reach the daemon says that the session goes on', async ({ open, daemon }) => {
  const page = await open('/tasks');
  let reachable = false;
  await page.route('**/v1/session', (route) => (reachable || route.request().method() !== 'DELETE' ? route.continue() : route.abort()));
  await page.getByRole('button', { name: 'Log out' }).click();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('You are still logged in');
  await expect(alert).toContainText('The daemon does not answer');
  await expect(page.getByLabel('Token')).toHaveCount(0);
  await expect(page.getByRole('row')).toHaveCount(0); // nothing of the session stays on the screen
  await page.getByRole('button', { name: 'Stay logged in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(alert).toContainText('You are still logged in');
  reachable = true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByLabel('Token')).toBeVisible();
  expect((await page.request.get(`${daemon.page}/v1/handlers`)).status()).toBe(401);
});

test('the chosen namespace ends with the log in', async ({ open, daemon }) => {
  await daemon.submit(task('session.space', { key: 'in the default one' }));
  const page = await open('/tasks?handler=session.space');
  await page.getByLabel('Namespace').selectOption('shop');
  await expect(page.getByText('No task matches')).toBeVisible();
  await page.getByRole('button', { name: 'Log out' }).click();
  await logInHere(page, daemon.tokenFor('operator', 'default'));
  await expect(page.getByText('in the default one')).toBeVisible();
});

test('a namespace that is refused is left', async ({ watched, daemon }) => {
  await daemon.submit(task('session.gone', { key: 'still to be seen' }));
  await watched.addInitScript(() => sessionStorage.getItem('easyretry.namespace') ?? sessionStorage.setItem('easyretry.namespace', 'closed-shop'));
  await logIn(watched, daemon.page, daemon.token, '/tasks?handler=session.gone');
  await expect(watched.getByText('still to be seen')).toBeVisible();
  await expect(watched.getByLabel('Namespace')).toHaveValue('');
  await watched.reload();
  await expect(watched.getByText('still to be seen')).toBeVisible();
});

test('a list at its top shows what other daemons did, of which no event comes', async ({ open, daemon }) => {
  const page = await open('/settings');
  await page.route('**/v1/events*', () => {}); // a stream without an event
  await goTo(page, '/tasks?handler=session.other');
  await expect(page.getByText('No task matches')).toBeVisible();
  await daemon.submit(task('session.other', { key: 'of another daemon', delay_ms: 3_600_000 }));
  await expect(page.getByText('of another daemon')).toBeVisible();
});

test('an incomplete search for late tasks does not say that none is late', async ({ open }) => {
  const page = await open('/settings');
  let late: Record<string, number> = {};
  await page.route('**/v1/cluster', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), late_handlers_ms: late, late_handlers_complete: false } });
  });
  await goTo(page, '/');
  const oldest = page.getByRole('link', { name: 'Oldest due' });
  await expect(oldest.locator('.figure-value')).toHaveText('?');
  late = { 'mail.send': 60_000 };
  await page.reload();
  await expect(oldest.locator('.figure-value')).toHaveText('≥ 1 min');
});
