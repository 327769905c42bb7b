// Changes of many tasks: selected ones, all that match a filter, all of one kind of error; and the filters themselves.
import type { Page } from '@playwright/test';
import { task, triedTask } from '../support/workload.mjs';
import { expect, goTo, test } from './fixtures';
import type { Daemon } from '../support/daemon.mjs';

const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();

test('selected tasks are changed one by one, and refusals are named', async ({ open, daemon }) => {
  for (let i = 0; i < 5; i++) await daemon.submit(triedTask('act.select', 1, i));
  const page = await open('/tasks?handler=act.select');
  const boxes = page.getByRole('checkbox', { name: /^Select task/ });
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await expect(page.getByText('2 selected')).toBeVisible();
  const gone = (await boxes.nth(0).getAttribute('aria-label'))!.split(' ').at(-1)!;
  await daemon.call('POST', `/v1/tasks/${gone}/cancel?untold=true`, {});
  await page.getByRole('button', { name: 'Retry now' }).click();
  await confirm(page, 'Retry now: 2');
  await expect(page.getByRole('dialog')).toContainText('1 of 2 changed · 1 refused');
  await expect(page.getByRole('dialog').getByRole('link', { name: gone })).toBeVisible();
});

test('all that match are changed after a dry run, a sample and a typed number', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 130 }, () => task('act.bulk', { delay_ms: 3_600_000 })) });
  const page = await open('/tasks?handler=act.bulk');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('130 tasks match now');
  await expect(dialog.getByRole('link').first()).toBeVisible();
  await dialog.getByLabel('Do not call callbacks').check();
  const button = dialog.getByRole('button', { name: 'Cancel: 130' });
  await expect(button).toBeDisabled();
  await dialog.getByLabel('Type 130 to confirm').fill('130');
  await daemon.submit(task('act.bulk', { key: 'after the dry run', delay_ms: 3_600_000 }));
  await button.click();
  await expect(dialog).toContainText('130 of 130 changed');
  const left = (await daemon.call('GET', '/v1/tasks?handler=act.bulk')).tasks;
  expect(left.map((each: { key: string }) => each.key)).toEqual(['after the dry run']);

  await goTo(page, '/bulk');
  await expect(page.getByRole('article').first()).toContainText('130 of 130 changed');
});

test('a bulk job has the pace that was asked for', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 5 }, () => task('act.pace', { delay_ms: 3_600_000 })) });
  const page = await open('/tasks?handler=act.pace');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Do not call callbacks').check();
  await dialog.getByLabel('At most per second').fill('0');
  await expect(dialog.getByRole('button', { name: 'Cancel: 5' })).toBeDisabled();
  await dialog.getByLabel('At most per second').fill('100');
  await dialog.getByRole('button', { name: 'Cancel: 5' }).click();
  await expect(dialog).toContainText('5 of 5 changed · at most 100 per second');
});

test('a million tasks are changed only by who types their number', async ({ open, daemon }) => {
  await daemon.submit(task('act.million', { delay_ms: 3_600_000 }));
  const page = await open('/tasks?handler=act.million');
  await page.route('**/v1/bulk', (route) =>
    route.fulfill({
      json: { action: 'cancel', created_until: new Date().toISOString(), matched: 1_000_000, sample: [], dry_run: true },
    }),
  );
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('1,000,000 tasks match now');
  const button = dialog.getByRole('button', { name: 'Cancel: 1000000' });
  await expect(button).toBeDisabled();
  await dialog.getByLabel('Type 1000000 to confirm').fill('100000');
  await expect(button).toBeDisabled();
  await dialog.getByLabel('Type 1000000 to confirm').fill('1000000');
  await expect(button).toBeEnabled();
});

test('all failures of one kind are requeued, and no others', async ({ open, daemon }) => {
  for (let i = 0; i < 6; i++) await daemon.submit(task('act.kinds', { key: `kinds-${i}` }));
  let n = 0;
  await daemon.work('act.kinds', () => ({ error: n++ < 4 ? `no mailbox 40${n}31` : 'relay denied', give_up: true }));
  const page = await open('/errors?handler=act.kinds');
  const group = page.getByRole('article').filter({ hasText: 'no mailbox' });
  await group.getByRole('button').first().click();
  await group.getByRole('link', { name: 'Show all of this kind' }).click();
  await expect(page.getByRole('row')).toHaveCount(5);
  await page.goBack();
  await group.getByRole('button').first().click();
  await group.getByRole('button', { name: 'Requeue all of this kind' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('4 tasks match now');
  await dialog.getByRole('button', { name: 'Requeue: 4' }).click();
  await expect(dialog).toContainText('4 of 4 changed');
  expect((await daemon.call('GET', '/v1/tasks?handler=act.kinds')).tasks).toHaveLength(4);
});

test('a bulk requeue gives its tasks the class background, unless another is chosen', async ({ open, daemon }) => {
  for (const handler of ['act.replay', 'act.replay.now']) {
    await daemon.submit(task(handler, { class: 'urgent' }));
    await daemon.work(handler, () => ({ error: 'x', give_up: true }));
  }
  const page = await open('/history?handler=act.replay');
  const dialog = page.getByRole('dialog');
  const choice = dialog.getByLabel('Class of the new tasks');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Requeue', exact: true }).click();
  await expect(choice).toHaveValue('background');
  await expect(dialog).toContainText('Background unless you choose another');
  await dialog.getByRole('button', { name: 'Requeue: 1' }).click();
  await expect(dialog).toContainText('1 of 1 changed');
  expect((await daemon.call('GET', '/v1/tasks?handler=act.replay')).tasks[0].class).toBe('background');
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await goTo(page, '/history?handler=act.replay.now');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Requeue', exact: true }).click();
  await choice.selectOption('urgent');
  await dialog.getByRole('button', { name: 'Requeue: 1' }).click();
  await expect(dialog).toContainText('1 of 1 changed');
  expect((await daemon.call('GET', '/v1/tasks?handler=act.replay.now')).tasks[0].class).toBe('urgent');
});

test('a job that is done says how many tasks no longer matched', async ({ open }) => {
  const page = await open();
  const at = new Date().toISOString();
  const asked = { id: 'j-1', action: 'retry', filter: { handler: 'pay' }, by: 'night shift', asked_at: at };
  const job = { ...asked, state: 'done', matched: 12, complete: true, changed: 5, skipped: 1, ended_at: at };
  await page.route('**/v1/bulk', (route) => route.fulfill({ json: { jobs: [job] } }));
  await goTo(page, '/bulk');
  await expect(page.getByRole('article')).toContainText('5 of 12 changed · 6 no longer matched · 1 skipped');
  await expect(page.getByRole('progressbar')).toHaveJSProperty('value', 12);
  await expect(page.getByRole('article')).toContainText('Handler: pay · asked for by night shift');
});

test('a history with requeued tasks is requeued as the one without: those are left alone', async ({ open, daemon }) => {
  await daemon.submit(task('act.again'));
  await daemon.work('act.again', () => ({ error: 'x', give_up: true }));
  const page = await open('/history?requeued=true');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  const asked = page.waitForRequest('**/v1/bulk');
  await page.getByRole('button', { name: 'Requeue', exact: true }).click();
  expect((await asked).postDataJSON()).toMatchObject({ everything: true, dry_run: true });
  await expect(page.getByRole('dialog')).toContainText(/tasks? match(es)? now/);
});

test('failures that are still retried have no range of time, which their tasks could not be filtered by', async ({ open, daemon }) => {
  await daemon.submit(task('act.ranges', { delay_ms: 3_600_000, attempts: 1, error: 'no range' }));
  const page = await open('/errors?of=tasks&handler=act.ranges&within=1h');
  await expect(page.getByRole('article')).toContainText('no range');
  await expect(page.getByRole('group', { name: 'Time range' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Ended badly' }).click();
  await expect(page.getByRole('group', { name: 'Time range' })).toBeVisible();
});

test('all live tasks of one kind of error are cancelled', async ({ open, daemon }) => {
  for (let i = 0; i < 3; i++)
    await daemon.submit(task('act.retrying', { delay_ms: 3_600_000, attempts: 1, error: `timeout of 10.0.0.${i}` }));
  await daemon.submit(task('act.retrying', { delay_ms: 3_600_000, attempts: 1, error: 'relay denied' }));
  const page = await open('/errors?of=tasks&handler=act.retrying');
  const group = page.getByRole('article').filter({ hasText: 'timeout' });
  await group.getByRole('button').first().click();
  await expect(group.getByRole('button', { name: 'Retry all of this kind' })).toBeVisible();
  await group.getByRole('button', { name: 'Cancel all of this kind' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Do not call callbacks').check();
  await dialog.getByRole('button', { name: 'Cancel: 3' }).click();
  await expect(dialog).toContainText('3 of 3 changed');
  expect((await daemon.call('GET', '/v1/tasks?handler=act.retrying')).tasks).toHaveLength(1);
});

test('lists are filtered by tag, attempts and due time, in the address', async ({ open, daemon }) => {
  await daemon.submit(task('act.filters', { key: 'vip', tags: ['vip'], attempts: 4, error: 'x', delay_ms: 3_600_000 }));
  await daemon.submit(task('act.filters', { key: 'plain', tags: ['other'], attempts: 1, error: 'x', delay_ms: 3_600_000 }));
  const page = await open('/tasks?handler=act.filters');
  await expect(page.getByRole('row')).toHaveCount(3);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Tag').fill('vip');
  await page.getByLabel('Attempts, at least').fill('3');
  await page.getByLabel('Due from').fill('2020-01-01T00:00');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('row').nth(1)).toContainText('vip');
  expect(page.url()).toContain('attempts_from=3');
  await page.getByRole('button', { name: 'Remove the filter Tag' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: 'Remove the filter Attempts, at least' }).click();
  await expect(page.getByRole('row')).toHaveCount(3);
});

test('the class of tasks is a column to choose and a filter', async ({ open, daemon }) => {
  for (const given of ['urgent', 'normal', 'background'])
    await daemon.submit(task('act.classes', { key: `of ${given}`, class: given, delay_ms: 3_600_000 }));
  const page = await open('/tasks?handler=act.classes');
  await expect(page.getByRole('row')).toHaveCount(4);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Class' }).check();
  await page.keyboard.press('Escape');
  for (const shown of ['urgent', 'normal', 'background'])
    await expect(page.getByRole('row', { name: `of ${shown}` }).getByRole('cell', { name: shown, exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Class' }).selectOption('normal');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('row').nth(1)).toContainText('of normal');
  expect(page.url()).toContain('class=normal');
  await page.getByRole('button', { name: 'Remove the filter Class' }).click();
  await expect(page.getByRole('row')).toHaveCount(4);
});

test('a search that takes long goes on by itself for a while, then stops, says how far it came, and goes on when asked', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('act.search', { tags: ['rare'], delay_ms: 3_600_000 }));
  const found = await daemon.call('GET', `/v1/tasks?handler=act.search`);
  const page = await open('/tasks?handler=act.search');
  await expect(page.getByRole('row')).toHaveCount(2);
  let searches = 0;
  await page.route('**/v1/tasks?*tag=rare*', (route) =>
    route.fulfill({
      json: ++searches > 20 ? { ...found, scanned: 5_000 } : { tasks: [], next: `older-${searches}`, scanned: 20_000 },
    }),
  );
  await goTo(page, '/tasks?handler=act.search&tag=rare');
  await expect(page.getByText('No match so far')).toBeVisible();
  await expect(page.getByText('400,000 tasks were looked at so far.')).toBeVisible();
  expect(searches).toBe(20);
  await page.getByRole('button', { name: 'Go on looking' }).click();
  await expect(page.locator(`tr[data-row="${id}"]`)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Go on looking' })).toHaveCount(0);
});

test('a filter that matches nothing changes nothing', async ({ open }) => {
  const page = await open('/tasks?handler=act.nothing&key=none');
  await expect(page.getByText('No task matches')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Choose all that match' })).toHaveCount(0);
});

for (const [action, outcome] of [['Retry now', ''], ['Mark as done', 'succeeded'], ['Mark as failed', 'rejected']] as const) {
  const handler = `act.all.${action.replaceAll(' ', '-').toLowerCase()}`;
  const stored = { tasks: Array.from({ length: 3 }, () => task(handler, { delay_ms: 3_600_000 })) };
  // What the tasks have become: due now, or ended.
  const check = async (daemon: Daemon) => {
    const { tasks } = await daemon.call('GET', outcome ? `/v1/history?handler=${handler}` : `/v1/tasks?handler=${handler}`);
    expect(tasks).toHaveLength(3);
    for (const each of tasks) {
      if (outcome) expect(each.outcome).toBe(outcome);
      else expect(Date.parse(each.next_at)).toBeLessThan(Date.now() + 60_000);
      if (action === 'Mark as failed') expect(each.last_error).toContain('refunded');
    }
  };
  const fill = async (page: Page) => {
    const dialog = page.getByRole('dialog');
    if (outcome) await dialog.getByLabel('Do not call callbacks').check();
    if (action !== 'Mark as failed') return;
    await expect(dialog.getByRole('button', { name: `${action}: 3` })).toBeDisabled();
    await dialog.getByLabel('Reason').fill('refunded by hand');
  };

  test(`${action}: a bulk job on all that match comes to its end`, async ({ open, daemon }) => {
    await daemon.call('POST', '/v1/tasks', stored);
    const page = await open(`/tasks?handler=${handler}`);
    await page.getByRole('button', { name: 'Choose all that match' }).click();
    await page.getByRole('button', { name: action }).click();
    await fill(page);
    await confirm(page, `${action}: 3`);
    await expect(page.getByRole('dialog')).toContainText('done');
    await expect(page.getByRole('dialog')).toContainText('3 of 3 changed');
    await check(daemon);
    if (!outcome) for (const each of (await daemon.call('GET', `/v1/tasks?handler=${handler}`)).tasks) await daemon.call('POST', `/v1/tasks/${each.id}/cancel?untold=true`, {});
  });

  test(`${action}: all selected tasks are changed`, async ({ open, daemon }) => {
    const selected = `${handler}.selected`;
    await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 3 }, () => task(selected, { delay_ms: 3_600_000 })) });
    const page = await open(`/tasks?handler=${selected}`);
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    await page.getByRole('button', { name: action }).click();
    await fill(page);
    await confirm(page, `${action}: 3`);
    await expect(page.getByRole('dialog')).toContainText('3 of 3 changed');
    const ended = (await daemon.call('GET', `/v1/history?handler=${selected}`)).tasks;
    expect(ended.map((each: { outcome: string }) => each.outcome)).toEqual(outcome ? [outcome, outcome, outcome] : []);
  });
}

test('a bulk job is stopped, and the tasks that it has not reached stay', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 90 }, () => task('act.stop', { delay_ms: 3_600_000 })) });
  const page = await open('/tasks?handler=act.stop');
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Do not call callbacks').check();
  await dialog.getByLabel('At most per second').fill('1');
  await dialog.getByRole('button', { name: 'Cancel: 90' }).click();
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await expect(dialog.locator('.badge')).toHaveText('stopped');
  const left = () => daemon.call('GET', '/v1/tasks?handler=act.stop&limit=100').then(({ tasks }) => tasks.length);
  const after = await left();
  expect(after).toBeGreaterThan(0);
  await goTo(page, '/bulk');
  await expect(page.getByRole('article').first()).toContainText('stopped');
  expect(await left()).toBe(after);
});
