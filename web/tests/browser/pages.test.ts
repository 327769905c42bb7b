// Every page: it shows something, has no accessibility violations, fits its screen, in both languages and themes.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Daemon } from '../support/daemon.mjs';
import { prepare, task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

const shots = join(import.meta.dirname, '../../screenshots');
mkdirSync(shots, { recursive: true });

const paths = new Map<string, string>();

test.beforeAll(async ({ daemon }) => {
  test.setTimeout(180_000);
  await prepare(daemon);
  // The page of handlers shows a circuit and a limit when a worker has asked for a task of their handlers.
  for (const handler of ['guarded.pay', 'limited.report']) {
    await daemon.submit(task(handler));
    await daemon.work(handler, () => undefined);
  }
  const live = (await daemon.call('GET', '/v1/tasks?limit=1000')).tasks;
  const ended = (await daemon.call('GET', '/v1/history?limit=1000')).tasks;
  const retrying = live.find((task: { attempts: number; last_error?: string }) => task.attempts > 1 && task.last_error) ?? live[0];
  const failed = ended.find((task: { outcome: string }) => task.outcome !== 'succeeded');
  for (const name of ['tasks', 'history', 'errors', 'handlers', 'instances', 'bulk', 'events', 'alerts', 'audit', 'access', 'settings'])
    paths.set(name, `/${name}`);
  paths.set('overview', '/');
  paths.set('handler', '/handler?name=mail.send');
  paths.set('task', `/task/${retrying.id}`);
  paths.set('ended task', `/task/${failed.id}`);
});

async function settle(page: Page): Promise<void> {
  await expect(page.locator('main h1').first()).toBeVisible();
  await expect(page.locator('.skeleton')).toHaveCount(0);
}

async function violations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map((each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => node.target).join(', ')}`);
}

const looks = [
  { name: 'light', options: { colorScheme: 'light' as const } },
  { name: 'dark', options: { colorScheme: 'dark' as const } },
  { name: 'zh', options: { locale: 'zh-CN' } },
  { name: 'phone', options: { viewport: { width: 360, height: 740 } } },
  { name: '4k', options: { viewport: { width: 3840, height: 2160 } } },
];

for (const { name, options } of looks) {
  test.describe(`every page, ${name}`, () => {
    test.use(options);
    test('shows itself without violations and fits the screen', async ({ watched, daemon }) => {
      test.setTimeout(240_000);
      await logIn(watched, daemon.page, daemon.token);
      for (const [page, path] of paths) {
        await test.step(page, async () => {
          await goTo(watched, path);
          await settle(watched);
          await watched.screenshot({ path: join(shots, `${name}-${page.replace(' ', '-')}.png`) });
          expect.soft(await violations(watched), `${page}, ${name}`).toEqual([]);
          const [needs, has] = await watched.evaluate(() => [
            document.documentElement.scrollWidth,
            document.documentElement.clientWidth,
          ]);
          expect.soft(needs, `${page}, ${name}: scrolls sideways`).toBeLessThanOrEqual(has! + 1);
          if (name === 'zh') expect.soft(await watched.locator('main h1').first().innerText(), page).toMatch(/\p{Script=Han}|\./u);
        });
      }
    });
  });
}

test('the log in has no violations', async ({ watched, daemon }) => {
  await watched.goto(daemon.page);
  await expect(watched.getByLabel('Token')).toBeFocused();
  expect(await violations(watched)).toEqual([]);
});

test('dialogs have no violations', async ({ open }) => {
  const page = await open(paths.get('task'));
  await page.getByRole('button', { name: 'Mark as failed' }).click();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit policy' }).click();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test('the overview says what is wrong and leads there', async ({ open }) => {
  const page = await open('/');
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await expect(verdict).toContainText('crm.sync');
  await expect(verdict).toContainText('To do:');
  await verdict.getByRole('link', { name: 'Show' }).last().click();
  await expect(page.getByRole('row', { name: /crm\.sync/ })).toContainText('paused');
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test('the verdict is in the language of the page', async ({ open }) => {
    const page = await open('/');
    const verdict = page.getByRole('region', { name: '诊断' });
    await expect(verdict).toContainText('恢复执行：easyretry handlers resume crm.sync');
    await expect(verdict).toContainText(/crm\.sync（已 [^，]+，9 个任务：CRM migration until 18:00）/);
    await verdict.getByRole('button', { name: '项检查' }).click();
    for (const name of ['实例', '延迟的任务', '隔离', '处理器', '暂停']) await expect(verdict.locator('b', { hasText: name }).first()).toBeVisible();
    await expect(verdict).not.toContainText(/late tasks|quarantined|To do|since|tasks\)/);
  });
});

test('a misspelt handler is told from the right one', async ({ browser }) => {
  const quiet = await Daemon.start(); // among many handlers without a worker, the daemon suggests nothing
  try {
    await quiet.submit(task('mail.send'));
    await quiet.submit(task('mail.sent'));
    const page = await browser.newPage({ locale: 'en-US' });
    await logIn(page, quiet.page, quiet.token);
    await goTo(page, '/handlers');
    await expect(async () => {
      await quiet.work('mail.send', () => undefined); // a handler is served for ten seconds after a worker has asked
      await page.reload();
      await expect(page.getByRole('row', { name: /mail\.sent/ })).toContainText('Did you mean mail.send?', { timeout: 4_000 });
    }).toPass();
    await page.close();
  } finally {
    await quiet.end();
  }
});

test('errors are grouped by cause, and lead to their tasks', async ({ open, daemon }) => {
  for (let i = 0; i < 2; i++) await daemon.submit(task('page.errors'));
  let n = 300;
  await daemon.work('page.errors', () => ({ error: `greylisted, try again in ${n++} seconds`, give_up: true }));
  const page = await open('/errors');
  const group = page.getByRole('article').filter({ hasText: 'greylisted, try again in <number> seconds' });
  await group.getByRole('button').first().click();
  await group.getByRole('link').first().click();
  await expect(page.locator('.error-text')).toContainText('greylisted');
});

test('the text of an error has most of the width of its card', async ({ open }) => {
  const page = await open('/errors');
  const card = page.getByRole('article').first();
  await expect(card.getByRole('img')).toBeVisible();
  const whole = (await card.boundingBox())!.width;
  expect((await card.locator('.error-what').boundingBox())!.width).toBeGreaterThan(whole / 2);
});

test('errors are asked for once if the quick answer has all of them, and in whole if not', async ({ open }) => {
  const page = await open('/settings');
  const asked: string[] = [];
  let complete = true;
  await page.route('**/v1/errors?*', (route) => {
    const quick = route.request().url().includes('within_ms=');
    asked.push(quick ? 'quick' : 'whole');
    return route.fulfill({ json: { groups: [], scanned: quick ? 7 : 9, complete: complete || !quick } });
  });
  await goTo(page, '/errors');
  await expect(page.getByText('No failures')).toBeVisible();
  complete = false;
  await page.getByRole('button', { name: '7 d' }).click();
  await expect.poll(() => asked).toEqual(['quick', 'quick', 'whole']);
});

test('settings change the page at once and stay', async ({ open }) => {
  const page = await open('/settings');
  await page.getByRole('button', { name: '简体中文' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('设置');
  await page.getByRole('button', { name: '深色' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('设置');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('a card that is slow leaves the others alone, and is filled when its answer comes', async ({ watched, daemon }) => {
  let answer = () => {};
  const slow = new Promise<void>((resolve) => (answer = resolve));
  await watched.route('**/v1/doctor', async (route) => {
    await slow;
    await route.continue();
  });
  await logIn(watched, daemon.page, daemon.token);
  await expect(watched.getByRole('link', { name: 'Live tasks' }).locator('.figure-value')).toHaveText(/\d/);
  await expect(watched.getByRole('status', { name: 'Loading' }).first()).toBeVisible();
  answer();
  await expect(watched.getByRole('region', { name: 'Verdict' })).toContainText('crm.sync');
});

test.describe('in the dark', () => {
  test.use({ colorScheme: 'dark' });
  test('the dialog of a session that has ended has no violations', async ({ open, context }) => {
    const page = await open('/handlers');
    await context.clearCookies();
    await goTo(page, '/instances');
    await expect(page.getByRole('dialog', { name: 'Your session has ended' })).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
});

test('a card whose endpoint fails or is missing leaves the page alive', async ({ watched, daemon }) => {
  await watched.route('**/v1/doctor', (route) =>
    route.fulfill({
      status: 404,
      json: { error: { code: 'not_found', message: 'there is nothing at /v1/doctor', request_id: 'r1' } },
    }),
  );
  await watched.route('**/v1/errors*', (route) =>
    route.fulfill({
      status: 422,
      json: { error: { code: 'odd', message: 'something odd', hint: 'do this', request_id: 'abc123' } },
    }),
  );
  await logIn(watched, daemon.page, daemon.token);
  await expect(watched.getByText('Not available on this daemon.')).toBeVisible();
  await expect(watched.getByText('abc123')).toBeVisible();
  await expect(watched.getByText('do this')).toBeVisible();
  await expect(watched.getByRole('link', { name: 'Live tasks' })).toBeVisible();
});
