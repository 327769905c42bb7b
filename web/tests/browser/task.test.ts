// What the page of a task says: its arguments and result, why it waits.
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';
import type { Daemon } from '../support/daemon.mjs';

// Runs the due task of `handler`, with this result.
async function finish(daemon: Daemon, handler: string, result: unknown) {
  const { tasks } = await daemon.call('POST', '/v1/leases', { handlers: [handler], max: 1, wait_ms: 1000 });
  await daemon.call('POST', `/v1/leases/${tasks[0].id}/done`, { version: tasks[0].version, result });
}

test('a result that was kept is shown, with the arguments', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('kept.result', { args: [{ to: 'ann' }] }));
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.locator('.json pre')).toContainText('"ann"');
  await finish(daemon, 'kept.result', { receipt: '<b>R-17</b>', paid: true });
  await expect(page.getByText('It succeeded')).toBeVisible(); // and what is shown follows
  await expect(page.getByRole('heading', { name: 'Result', exact: true })).toBeVisible();
  await expect(page.locator('.json pre').nth(0)).toContainText('"ann"');
  await expect(page.locator('.json pre').nth(1)).toContainText('"<b>R-17</b>"');
});

test('a handler that keeps no results says so', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('task.plain'));
  await finish(daemon, 'task.plain', { receipt: 'R-18' });
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('None is kept.')).toBeVisible();
});

test('a result that was too long to be kept has its size', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('kept.result'));
  await finish(daemon, 'kept.result', 1);
  const page = await open(`/task/${id}`);
  await page.route(`**/v1/tasks/${id}?args&result`, async (route) => {
    const response = await route.fetch();
    const { result: _, ...rest } = await response.json();
    await route.fulfill({ response, json: { ...rest, result_left_out: 2_500_000 } });
  });
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('It had 2.5 MB, and was too long to be kept.')).toBeVisible();
});

test('removed arguments are not shown as null, and a requeue asks for new ones', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('task.removed'));
  await daemon.work('task.removed', () => ({ error: 'down', give_up: true }));
  const page = await open();
  // A sweep removes arguments a minute after keep_args; so the answer of the daemon is changed here.
  await page.route(`**/v1/tasks/${id}*`, async (route) => {
    const response = await route.fetch();
    const { args: _, ...rest } = await response.json();
    await route.fulfill({ response, json: { ...rest, args_removed: true } });
  });
  await goTo(page, `/task/${id}`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('They were removed')).toBeVisible();
  await expect(page.locator('.json pre')).toHaveCount(0);

  await page.getByRole('button', { name: 'Requeue' }).click();
  const dialog = page.getByRole('dialog');
  const editor = dialog.getByLabel('Arguments, as JSON');
  await expect(editor).toHaveValue('');
  await expect(dialog.getByRole('button', { name: 'Requeue' })).toBeDisabled();
  await editor.fill('["new"]');
  await dialog.getByRole('button', { name: 'Requeue' }).click();
  await expect(page.getByText('Requeued from')).toBeVisible();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.locator('.json pre')).toContainText('"new"');
});

test('a token without the right to see payloads is shown neither', async ({ watched, daemon }) => {
  const { id } = await daemon.submit(task('kept.result'));
  await finish(daemon, 'kept.result', { receipt: 'R-19' });
  await logIn(watched, daemon.page, daemon.tokenFor('viewer'), `/task/${id}`);
  await expect(watched.getByText('may not see arguments')).toBeVisible();
  await expect(watched.getByRole('button', { name: 'Show', exact: true })).toHaveCount(0);
});

test('a task whose callback waits says so, and does not speak of an attempt', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('task.callback', { delay_ms: 3_600_000 }));
  const page = await open();
  await page.route(`**/v1/tasks/${id}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), stage: 'on_success', attempts: 1 } });
  });
  await goTo(page, `/task/${id}`);
  await expect(page.getByRole('region', { name: 'Why it waits' })).toContainText(/Its callback on_success is due\s+in/);
});
