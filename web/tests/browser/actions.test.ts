// Every change of one task or handler, clicked as a person would, and checked at the daemon.
import type { Page } from '@playwright/test';
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();

test('a pending task is retried, edited, cancelled, marked as done and as failed', async ({ open, daemon }) => {
  const later = { delay_ms: 3_600_000 };
  const [retried, cancelled, done, failed] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((key) => daemon.submit(task('act.one', { key: `act-${key}`, ...later }))),
  );
  const page = await open(`/task/${retried!.id}`);

  await page.getByRole('button', { name: 'Edit policy' }).click();
  await page.getByLabel('Most attempts').fill('3');
  await page.getByLabel('Longest duration').fill('2h');
  await confirm(page, 'Save');
  await expect(page.getByText('The policy was changed')).toBeVisible();
  expect((await daemon.call('GET', `/v1/tasks/${retried!.id}`)).policy).toMatchObject({
    max_attempts: 3,
    max_duration_ms: 7_200_000,
  });

  await page.getByRole('button', { name: 'Retry now' }).click();
  await confirm(page, 'Retry now');
  await expect(page.getByText('The task is due now')).toBeVisible();
  expect(Date.parse((await daemon.call('GET', `/v1/tasks/${retried!.id}`)).next_at)).toBeLessThan(Date.now() + 60_000);

  await goTo(page, `/task/${cancelled!.id}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByLabel('Do not call callbacks').check();
  await confirm(page, 'Cancel');
  await expect(page.getByText('It was cancelled')).toBeVisible();

  await goTo(page, `/task/${done!.id}`);
  await page.getByRole('button', { name: 'Mark as done' }).click();
  await page.getByLabel('Do not call callbacks').check();
  await confirm(page, 'Mark as done');
  await expect(page.getByText('It succeeded')).toBeVisible();

  await goTo(page, `/task/${failed!.id}`);
  await page.getByRole('button', { name: 'Mark as failed' }).click();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Mark as failed' })).toBeDisabled();
  await page.getByLabel('Reason').fill('refunded by hand');
  await page.getByLabel('Do not call callbacks').check();
  await confirm(page, 'Mark as failed');
  await expect(page.locator('.error-text')).toContainText('refunded by hand');
});

test('a finished task is requeued once; a second tab is told so', async ({ open, daemon, context }) => {
  const { id } = await daemon.submit(task('act.requeue'));
  await daemon.work('act.requeue', () => ({ error: 'no route to host', give_up: true }));
  const page = await open(`/task/${id}`);
  const other = await context.newPage();
  await other.goto(`${daemon.page}/#/task/${id}`);
  await other.getByRole('button', { name: 'Requeue' }).click(); // its dialog is open while the first tab requeues

  await page.getByRole('button', { name: 'Requeue' }).click();
  await confirm(page, 'Requeue');
  await expect(page.getByText('Requeued from')).toBeVisible();

  await confirm(other, 'Requeue');
  await expect(other.getByRole('dialog').getByRole('alert')).toContainText('requeued');
  expect((await daemon.call('GET', '/v1/tasks?handler=act.requeue')).tasks).toHaveLength(1);
});

test('a finished task is requeued with changed arguments', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.arguments', { args: [{ to: 'ann', id: '9007199254740993' }] }));
  await daemon.work('act.arguments', () => ({ error: 'no such mailbox', give_up: true }));
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Requeue' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Change the arguments').check();
  const editor = dialog.getByLabel('Arguments, as JSON');
  await expect(editor).toHaveValue(/"to": "ann"/);
  await editor.fill('[{"to": ');
  await expect(dialog.getByRole('alert')).toContainText('This is not JSON');
  await expect(dialog.getByRole('button', { name: 'Requeue' })).toBeDisabled();
  await editor.fill('[{"to": "bob", "id": 9007199254740993}]');
  await confirm(page, 'Requeue');
  await expect(page.getByText('Requeued from')).toBeVisible();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.locator('.json pre')).toContainText('"bob"');
  await expect(page.locator('.json pre')).toContainText('9007199254740993');
});

test('a task shows its class, and is requeued with another one', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.class', { class: 'urgent' }));
  await daemon.work('act.class', () => ({ error: 'x', give_up: true }));
  const page = await open(`/task/${id}`);
  await expect(page.locator('.title-line')).toContainText('urgent');
  await expect(page.getByRole('complementary', { name: 'Details' })).toContainText('Classurgent');
  await page.getByRole('button', { name: 'Requeue' }).click();
  const choice = page.getByRole('dialog').getByLabel('Class');
  await expect(choice.locator('option:checked')).toHaveText('As before');
  await choice.selectOption('normal');
  await confirm(page, 'Requeue');
  await expect(page.getByText('Requeued from')).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Details' })).toContainText('Classnormal');
  const [requeued] = (await daemon.call('GET', '/v1/tasks?handler=act.class')).tasks;
  expect(requeued.class).toBeUndefined(); // which is normal
});

test('a task that is requeued by itself keeps its class', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.keeps', { class: 'urgent' }));
  await daemon.work('act.keeps', () => ({ error: 'x', give_up: true }));
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Requeue' }).click();
  await confirm(page, 'Requeue');
  await expect(page.getByText('Requeued from')).toBeVisible();
  expect((await daemon.call('GET', '/v1/tasks?handler=act.keeps')).tasks[0].class).toBe('urgent');
});

test('without the right to see arguments, they cannot be changed', async ({ watched, daemon }) => {
  const { id } = await daemon.submit(task('act.sealed'));
  await daemon.work('act.sealed', () => ({ error: 'x', give_up: true }));
  await logIn(watched, daemon.page, daemon.tokenFor('operator'), `/task/${id}`);
  await watched.getByRole('button', { name: 'Requeue' }).click();
  await expect(watched.getByRole('dialog')).toBeVisible();
  await expect(watched.getByLabel('Change the arguments')).toHaveCount(0);
});

test('a double click changes a task once', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.twice'));
  await daemon.work('act.twice', () => ({ error: 'x', give_up: true }));
  const page = await open(`/task/${id}`);
  let requests = 0;
  page.on('request', (request) => request.method() === 'POST' && requests++);
  await page.getByRole('button', { name: 'Requeue' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Requeue' }).dblclick();
  await expect(page.getByText('Requeued from')).toBeVisible();
  expect(requests).toBe(1);
});

test('the timeline has each attempt that is kept: how it ended, where, how long it took, and its error', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.attempts', { attempts: 5, error: 'the fifth', delay_ms: 3_600_000 }));
  const page = await open();
  const at = (seconds: number) => new Date(Date.now() - 1000 * seconds).toISOString();
  // Which attempts are kept depends on crashes; so the answer of the daemon is completed here.
  await page.route(`**/v1/tasks/${id}`, async (route) => {
    const response = await route.fetch();
    const last_attempts = [
      { number: 5, end: 'failed', by: 'pay-2', began_at: at(12), ended_at: at(10), took_ms: 1_250, error: 'the <b>fifth</b>' },
      { number: 5, end: 'crashed', by: 'pay-1', ended_at: at(30) },
      { number: 4, end: 'failed', by: 'pay-1', began_at: at(61), ended_at: at(60), took_ms: 700, error: 'the fourth' },
    ];
    await route.fulfill({ response, json: { ...(await response.json()), first_failed_at: at(90), last_attempts } });
  });
  await goTo(page, `/task/${id}`);
  const moments = page.locator('.timeline li');
  await expect(moments.filter({ hasText: 'Attempt 4 failed' })).toContainText('took 700 ms · pay-1');
  await expect(moments.filter({ hasText: 'Attempt 5: its instance died' })).toContainText('pay-1');
  await expect(moments.filter({ hasText: 'Attempt 5 failed' })).toContainText('the <b>fifth</b>');
  await expect(moments.filter({ hasText: 'Attempt 1 failed' })).toContainText('2 more attempts failed');
  await expect(moments.filter({ hasText: 'Attempt 6' })).toBeVisible();
});

test('a task without a limit of attempts says so', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.forever', { delay_ms: 3_600_000, policy: { max_attempts: 0, backoff: 'fixed delay=5s jitter=none' } }));
  const page = await open(`/task/${id}`);
  await expect(page.locator('.timeline')).toContainText('and so on, without a limit');
  await expect(page.getByText('0, without a limit')).toBeVisible();
});

test('a handler is paused with a reason and resumed', async ({ open, daemon }) => {
  await daemon.submit(task('act.pause'));
  const page = await open('/handlers');
  const row = page.getByRole('row', { name: /act\.pause/ });
  await row.getByRole('button', { name: 'Pause' }).click();
  await page.getByLabel('Reason').fill('gateway <down>');
  await confirm(page, 'Pause');
  await expect(row).toContainText('paused');
  await row.getByRole('link').click();
  await expect(page.getByText('gateway <down>')).toBeVisible();
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByText('act.pause is running again')).toBeVisible();
  const handler = (await daemon.call('GET', '/v1/handlers')).handlers.find((each: { name: string }) => each.name === 'act.pause');
  expect(handler.paused).toBeUndefined();
});

test('events appear as they happen, and hold still while paused', async ({ open, daemon }) => {
  const page = await open('/events?handler=act.events');
  await expect(page.locator('main').getByText('live', { exact: true })).toBeVisible();
  await daemon.submit(task('act.events', { key: 'first event' }));
  await expect(page.getByRole('listitem').filter({ hasText: 'first event' })).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await daemon.submit(task('act.events', { key: 'second event' }));
  await page.getByRole('button', { name: 'Go on (1 new)' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'second event' })).toBeVisible();
});

test('the keyboard moves through rows, selects, opens and finds', async ({ open, daemon }) => {
  for (let i = 0; i < 3; i++) await daemon.submit(task('act.keys', { key: `keys-${i}`, delay_ms: 3_600_000 }));
  const page = await open('/tasks?handler=act.keys');
  await expect(page.getByRole('row')).toHaveCount(4);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(page.getByText('1 selected')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('Nothing selected')).toBeVisible();
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await expect(page.locator('.lead')).toContainText('keys-2');
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type('keys-1');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('row')).toHaveCount(2);
  expect(page.url()).toContain('key=keys-1');
});

test('j and k move through the rows of every list', async ({ open, daemon }) => {
  for (let i = 0; i < 2; i++) await daemon.submit(task('act.rows'));
  let n = 0;
  await daemon.work('act.rows', () => ({ error: n++ ? 'relay denied' : 'no such mailbox', give_up: true }));
  for (let i = 0; i < 2; i++) await daemon.call('POST', '/v1/bulk', { action: 'retry', filter: { handler: 'act.rows' }, most: 10 });
  daemon.tokenFor('viewer');
  const page = await open('/errors?handler=act.rows');
  const focused = () => page.evaluate(() => document.activeElement?.closest<HTMLElement>('main [data-row]')?.dataset.row ?? '');
  for (const place of ['/errors?handler=act.rows', '/bulk', '/alerts', '/audit', '/access', '/events?handler=act.rows']) {
    await goTo(page, place);
    if (place.startsWith('/events')) {
      await expect(page.locator('main').getByText('live', { exact: true })).toBeVisible();
      for (let i = 0; i < 2; i++) await daemon.submit(task('act.rows'));
    }
    await expect(page.locator('main [data-row]').nth(1)).toBeVisible();
    await page.keyboard.press('j');
    const first = await focused();
    expect(first, place).not.toBe('');
    await page.keyboard.press('j');
    expect(await focused(), place).not.toBe(first);
    await page.keyboard.press('k');
    expect(await focused(), place).toBe(first);
  }
});

test('g and a letter go to every page, and only keys that work are listed', async ({ open }) => {
  const page = await open('/settings');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  for (const [key, name] of [['n', 'Alerts'], ['u', 'Audit log'], ['c', 'Access'], ['b', 'Bulk jobs']]) {
    // Again if it takes a busy machine more than a second to type two letters: then they are not one shortcut.
    await expect(async () => {
      await page.keyboard.press('g');
      await page.keyboard.press(key!);
      await expect(page.getByRole('heading', { level: 1, name: name! })).toBeVisible({ timeout: 5_000 });
    }).toPass({ timeout: 60_000 });
  }
  const find = page.getByRole('dialog', { name: 'Keyboard' }).getByText('Find', { exact: true });
  await goTo(page, '/settings');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  await expect(find).toHaveCount(0);
  await page.keyboard.press('Escape');
  await goTo(page, '/tasks');
  await expect(page.getByRole('search')).toBeVisible();
  await page.keyboard.press('?');
  await expect(find).toBeVisible();
});

test('columns are chosen and stay', async ({ open, daemon }) => {
  await daemon.submit(task('act.columns', { delay_ms: 3_600_000 }));
  const page = await open('/tasks?handler=act.columns');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Business').check();
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Business' })).toBeVisible();
});
