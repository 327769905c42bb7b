// The circuits on the page of handlers: what they say, who may overrule them, and what a held task says.
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';
import type { Daemon } from '../support/daemon.mjs';
import type { Page } from '@playwright/test';

const circuits = (page: Page) => page.getByRole('table', { name: 'Circuits' });
const gateway = (page: Page) => circuits(page).locator('tr[data-row="gateway"]');

// The daemon has the circuit when a worker has asked for a task of its handler.
async function serve(daemon: Daemon) {
  await daemon.submit(task('guarded.pay'));
  await daemon.work('guarded.pay', () => undefined);
}

test('a circuit is held open with a reason and a time, a task says so, and it is reset', async ({ open, daemon }) => {
  await serve(daemon);
  const page = await open('/handlers');
  await expect(gateway(page)).toContainText('closed');
  await expect(gateway(page)).toContainText('guarded.pay');
  await gateway(page).getByRole('button', { name: 'Hold open' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('For how long').selectOption('1 hour');
  await dialog.getByLabel('Reason').fill('<b>they</b> migrate');
  await dialog.getByRole('button', { name: 'Hold open' }).click();
  await expect(page.getByText('gateway is held open')).toBeVisible();
  await expect(gateway(page)).toContainText('<b>they</b> migrate');
  await expect(gateway(page)).toContainText('0/s');

  const { id } = await daemon.submit(task('guarded.pay'));
  await goTo(page, `/task/${id}`);
  await expect(page.getByText('Its circuit is open and holds it back')).toBeVisible();
  await expect(page.getByText('<b>they</b> migrate')).toBeVisible();
  await expect(page.locator('.held-by')).toContainText(/Circuit gateway · held open by hand since .* · nothing starts · until in/);
  await page.getByRole('link', { name: 'Show the circuits' }).click();

  await gateway(page).getByRole('button', { name: 'Reset' }).click();
  await expect(page.getByText('gateway judges by itself again')).toBeVisible();
  await expect(gateway(page).getByRole('button', { name: 'Hold open' })).toBeVisible();
});

test('retries that a budget holds back are counted, and a task says so', async ({ open, daemon }) => {
  const ids = await Promise.all([1, 2, 3].map(async () => (await daemon.submit(task('budgeted.pay'))).id));
  // The first attempts, the one retry that starts in any case, and a worker that gets none.
  for (let i = 0; i < 3; i++) await daemon.work('budgeted.pay', () => ({ error: 'busy' }));
  const page = await open('/handlers');
  const bank = circuits(page).locator('tr[data-row="bank"]');
  await expect(bank).toContainText('retries at most 0 %');
  await expect(bank).toContainText('holds some back since');
  await goTo(page, `/task/${ids[0]}`);
  await expect(page.getByText('the budget for retries of its circuit holds it back')).toBeVisible();
  await expect(page.locator('.held-by')).toContainText(/Circuit bank · retries at most 0 % · holds some back since .* · 3 due tasks/);
  await page.getByRole('link', { name: 'Show the circuits' }).click();
  await bank.getByRole('button', { name: 'Ignore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ignore' }).click();
  await expect(bank).toContainText('ignored');
  await daemon.work('budgeted.pay', () => undefined);
  await bank.getByRole('button', { name: 'Reset' }).click();
  await expect(bank).not.toContainText('holds some back since');
});

test('a circuit is ignored for ten minutes', async ({ open, daemon }) => {
  await serve(daemon);
  const page = await open('/handlers');
  await gateway(page).getByRole('button', { name: 'Ignore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Ignore' }).click();
  await expect(gateway(page)).toContainText('ignored');
  await gateway(page).getByRole('button', { name: 'Reset' }).click();
  await expect(gateway(page)).not.toContainText('ignored');
});

test('an order for a circuit that no instance has here is shown, and can be reset', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/circuits/gatewy/open', { why: '' });
  const page = await open('/handlers');
  const row = circuits(page).locator('tr[data-row="gatewy"]');
  await expect(row).toContainText('no handler of this instance');
  await row.getByRole('button', { name: 'Reset' }).click();
  await expect(row).toHaveCount(0);
});

test('an open circuit is a finding of the overview, which leads to it', async ({ open, daemon }) => {
  await serve(daemon);
  await daemon.call('POST', '/v1/circuits/gateway/open', { why: 'they migrate' });
  const page = await open();
  const finding = page.getByRole('region', { name: 'Verdict' }).getByRole('listitem').filter({ hasText: 'gateway' });
  await finding.getByRole('link', { name: 'Show' }).click();
  await expect(gateway(page)).toContainText('held open');
  await gateway(page).getByRole('button', { name: 'Reset' }).click();
  await expect(gateway(page).getByRole('button', { name: 'Hold open' })).toBeVisible();
});

test('a viewer sees circuits, and changes none', async ({ watched, daemon }) => {
  await serve(daemon);
  await logIn(watched, daemon.page, daemon.tokenFor('viewer'), '/handlers');
  await expect(gateway(watched)).toBeVisible();
  await expect(gateway(watched).getByRole('button')).toHaveCount(0);
});
