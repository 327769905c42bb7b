// Bad input, bad luck and bad intent: shown safely or refused clearly, and nothing is changed twice.
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { task } from '../support/workload.mjs';
import { expect, goTo, logIn, test } from './fixtures';

const SCRIPT = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

test('markup in every text of a task is shown as text', async ({ open, daemon }) => {
  const { id } = await daemon.submit(
    task(`h${SCRIPT}`, {
      key: `k${SCRIPT}`,
      business_id: SCRIPT,
      tags: ['<b>tag</b>'],
      args: [{ [SCRIPT]: SCRIPT }],
      delay_ms: 3_600_000,
      attempts: 1,
      error: SCRIPT,
    }),
  );
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.locator('.json pre')).toContainText('<script>');
  for (const path of ['/tasks', '/handlers', '/', '/errors?of=tasks', `/handler?name=${encodeURIComponent(`h${SCRIPT}`)}`]) {
    await goTo(page, path);
    await expect(page.locator('main')).toContainText('onerror');
  }
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  expect(await page.locator('main img, main script').count()).toBe(0);
});

test('a megabyte of arguments, with large numbers, is shown in part first', async ({ open, daemon }) => {
  const { id } = await daemon.submit(
    task('big.args', { args: [{ id: '9007199254740993', text: 'x'.repeat(1_000_000) }], delay_ms: 3_600_000 }),
  );
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.locator('.json pre')).toContainText('9007199254740993');
  await expect(page.getByRole('button', { name: /Show all 1\.0 MB/ })).toBeVisible();
  expect((await page.locator('.json pre').innerText()).length).toBeLessThan(25_000);
});

test('keys of 255 characters and right-to-left texts keep the page in shape', async ({ open, daemon }) => {
  await daemon.submit(
    task('long.key', { key: 'k'.repeat(255), delay_ms: 3_600_000, attempts: 1, error: 'שגיאה: מספר 7 \u202E gnorw' }),
  );
  const page = await open('/tasks?handler=long.key');
  await expect(page.getByRole('row')).toHaveCount(2);
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  expect(needs).toBeLessThanOrEqual(has! + 1);
});

test('names as long as they may be keep every page in shape', async ({ open, daemon }) => {
  const handler = `long.${'n'.repeat(195)}`;
  const { id } = await daemon.submit(
    task(handler, {
      key: 'K'.repeat(255),
      business_type: 'T'.repeat(64),
      business_id: 'B'.repeat(255),
      delay_ms: 3_600_000,
      attempts: 1,
      error: 'E'.repeat(4000),
    }),
  );
  const page = await open();
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [`/task/${id}`, '/tasks', '/handlers', '/', '/errors?of=tasks', `/handler?name=${handler}`]) {
      await goTo(page, path);
      await expect(page.locator('main h1').first()).toBeVisible();
      await expect(page.locator('.skeleton')).toHaveCount(0);
      const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      expect.soft(needs, `${path} at ${width}`).toBeLessThanOrEqual(has! + 1);
    }
  }
});

test('bytes that are not UTF-8 are refused by the API, and survived in the address', async ({ open, daemon }) => {
  const body = Buffer.concat([Buffer.from('{"handler":"utf8.one","key":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  const answer = await fetch(`${daemon.url}/v1/tasks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${daemon.token}`, 'Content-Type': 'application/json' },
    body,
  });
  expect(answer.status).toBe(400);
  const page = await open('/tasks?handler=%FF&key=%FE');
  await expect(page.getByText('No task matches')).toBeVisible();
});

test('a page of another origin changes nothing, although the browser has a session', async ({ open, daemon, context }) => {
  const { id } = await daemon.submit(task('origin.one', { delay_ms: 3_600_000 }));
  await open();
  const evil = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<h1>evil</h1>'));
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
  try {
    const page = await context.newPage(); // the same host name, another port: the browser sends the cookie
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    const refused = page.waitForResponse((response) => response.url().includes('/cancel'));
    await page.evaluate(
      (url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => undefined),
      `${daemon.url}/v1/tasks/${id}/cancel`,
    );
    expect((await refused).status()).toBe(403);
    const read = await page.evaluate((url) => fetch(url, { credentials: 'include' }).then(String, () => 'refused'), `${daemon.url}/v1/tasks`);
    expect(read).toBe('refused');
    expect((await daemon.call('GET', `/v1/tasks/${id}`)).state).toBe('pending');
  } finally {
    evil.close();
  }
});

test('another name of the host is refused', async ({ daemon }) => {
  const status = await new Promise((resolve) =>
    get(`${daemon.url}/`, { headers: { Host: 'evil.example' } }, (answer) => resolve(answer.resume().statusCode)),
  );
  expect(status).toBe(421);
});

test('a session that ends in the middle of a change asks again, and the task is changed once', async ({ open, daemon, context }) => {
  const { id } = await daemon.submit(task('session.change', { delay_ms: 3_600_000 }));
  const page = await open(`/task/${id}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByLabel('Do not call callbacks').check();
  await context.clearCookies();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  const login = page.getByRole('dialog', { name: 'Your session has ended' });
  await expect(login).toBeVisible();
  expect((await daemon.call('GET', `/v1/tasks/${id}`)).state).toBe('pending');
  await login.getByLabel('Token').fill(daemon.token);
  await login.getByRole('button', { name: 'Log in' }).click();
  await expect(login).toHaveCount(0);
  expect((await daemon.call('GET', `/v1/tasks/${id}`)).state).toBe('pending');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('It was cancelled')).toBeVisible();
});

for (const [name, off] of [['behind', -3_600_000], ['ahead', 3_600_000]] as const) {
  test(`a browser whose clock is an hour ${name} shows the right ages`, async ({ watched, daemon }) => {
    await daemon.submit(task(`clock.${name}`, { delay_ms: 3_600_000 }));
    await watched.addInitScript((by) => {
      const real = Date.now.bind(Date);
      Date.now = () => real() + by;
    }, off);
    await logIn(watched, daemon.page, daemon.token, `/tasks?handler=clock.${name}`);
    await expect(watched.getByRole('row').nth(1)).toContainText(/in (59 min|1 hr)\./);
  });
}

test('a wrong token is refused, and says so', async ({ watched, daemon }) => {
  await watched.goto(daemon.page);
  await watched.getByLabel('Token').fill('er_wrong');
  await watched.getByRole('button', { name: 'Log in' }).click();
  await expect(watched.getByRole('alert')).toContainText('does not know this token');
  await watched.getByLabel('Token').fill(daemon.token);
  await watched.getByRole('button', { name: 'Log in' }).click();
  await expect(watched.locator('.shell')).toBeVisible();
});

test('the token is nowhere in the browser after the log in', async ({ open, daemon, context }) => {
  const page = await open();
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.body.innerHTML]),
  );
  expect(kept).not.toContain(daemon.token);
  for (const cookie of await context.cookies()) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
});

test('a viewer is offered nothing that it may not do', async ({ watched, daemon }) => {
  const { id } = await daemon.submit(task('roles.one', { delay_ms: 3_600_000 }));
  await logIn(watched, daemon.page, daemon.tokenFor('viewer'), `/task/${id}`);
  await expect(watched.getByText('roles.one').first()).toBeVisible();
  await expect(watched.getByText('may not see arguments')).toBeVisible();
  const changes = /Retry now|Cancel|Mark as|Edit policy|Requeue|Pause|Choose all|Select/;
  for (const path of [`/task/${id}`, '/tasks', '/history', '/handlers', '/errors', '/bulk']) {
    await goTo(watched, path);
    await expect(watched.locator('main h1').first()).toBeVisible();
    await expect(watched.locator('.skeleton')).toHaveCount(0);
    await expect(watched.locator('main').getByRole('button', { name: changes })).toHaveCount(0);
    await expect(watched.locator('main').getByRole('checkbox')).toHaveCount(0);
  }
});

test('a token that may not look is told so', async ({ watched, daemon }) => {
  await logIn(watched, daemon.page, daemon.tokenFor('worker'));
  await expect(watched.getByText('This token may not see tasks.')).toBeVisible();
  await watched.getByRole('button', { name: 'Log out' }).click();
  await expect(watched.getByLabel('Token')).toBeVisible();
});

test('a token of one namespace sees its tasks and no others; one of all can choose', async ({ watched, daemon, browser }) => {
  await daemon.submit(task('space.one', { key: 'in the default namespace' }));
  await daemon.call('POST', '/v1/tasks', task('space.one', { key: 'in the shop' }), { 'easyretry-namespace': 'shop' });
  await logIn(watched, daemon.page, daemon.tokenFor('operator', 'shop'), '/tasks?handler=space.one');
  await expect(watched.getByText('in the shop')).toBeVisible();
  await expect(watched.getByText('in the default namespace')).toHaveCount(0);
  await expect(watched.locator('.namespace')).toHaveText('shop');

  const other = await browser.newPage({ locale: 'en-US' });
  await logIn(other, daemon.page, daemon.token, '/tasks?handler=space.one');
  await expect(other.getByText('in the default namespace')).toBeVisible();
  await expect(other.getByLabel('Namespace').getByRole('option')).toHaveText(['Default namespace', 'shop']);
  await other.getByLabel('Namespace').selectOption('shop');
  await expect(other.getByText('in the shop')).toBeVisible();
  await expect(other.getByText('in the default namespace')).toHaveCount(0);
  await other.close();
});

test('the numbers of this moment are of the chosen namespace', async ({ open, daemon }) => {
  const shop = { 'easyretry-namespace': 'shop' };
  for (let i = 0; i < 3; i++) await daemon.call('POST', '/v1/tasks', task('space.two', { key: `two-${i}` }), shop);
  const page = await open('/settings');
  await page.route('**/metrics', (route) =>
    route.fulfill({
      contentType: 'text/plain',
      body: 'easyretry_running_tasks{namespace="default"} 2\neasyretry_running_tasks{namespace="shop"} 70\n',
    }),
  );
  await goTo(page, '/');
  await expect(page.getByRole('link', { name: 'Running here' })).toContainText('2');
  await page.getByLabel('Namespace').selectOption('shop');
  await expect(page.getByRole('link', { name: 'Running here' })).toContainText('70');
  await expect(page.getByRole('link', { name: 'Failed here' })).toBeVisible();
});

test('an operator may change, and not see arguments', async ({ watched, daemon }) => {
  const { id } = await daemon.submit(task('roles.two', { delay_ms: 3_600_000 }));
  await logIn(watched, daemon.page, daemon.tokenFor('operator'), `/task/${id}`);
  await expect(watched.getByRole('button', { name: 'Retry now' })).toBeVisible();
  await expect(watched.getByText('may not see arguments')).toBeVisible();
});

test('a session that ends in the middle asks again, and the page stays', async ({ open, daemon, context }) => {
  const page = await open('/tasks?handler=mail.send');
  await context.clearCookies();
  await goTo(page, '/handlers');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await expect(dialog).toBeVisible();
  await dialog.getByLabel('Token').fill(daemon.token);
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1, name: 'Handlers' })).toBeVisible();
});

test('logging out ends the session at the server', async ({ open, daemon }) => {
  const page = await open();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByLabel('Token')).toBeVisible();
  const answer = await page.request.get(`${daemon.page}/v1/handlers`);
  expect(answer.status()).toBe(401);
});

test('a change without the CSRF token is refused', async ({ open, daemon }) => {
  const { id } = await daemon.submit(task('csrf.one', { delay_ms: 3_600_000 }));
  const page = await open();
  const status = await page.evaluate(async (task) => (await fetch(`./v1/tasks/${task}/cancel`, { method: 'POST' })).status, id);
  expect(status).toBe(403);
  expect((await daemon.call('GET', `/v1/tasks/${id}`)).state).toBe('pending');
});

test('an unknown task, page or filter is answered with a sentence', async ({ open }) => {
  const page = await open('/task/1');
  await expect(page.getByRole('alert')).toContainText('there is no task 1');
  await expect(page.getByRole('alert')).toContainText('Request');
  await goTo(page, '/no/such/page');
  await expect(page.getByText('There is no such page.')).toBeVisible();
  await goTo(page, '/history?outcome=nonsense&created_from=never');
  await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeVisible();
});

test('a daemon that is restarted under an open page comes back by itself', async ({ open, daemon }) => {
  const page = await open('/tasks');
  await daemon.stop();
  await expect(page.locator('.liveness')).toContainText('offline');
  await expect(page.getByRole('alert').first()).toContainText('The daemon does not answer'); // of the page, then of the list too
  await expect(page.getByRole('heading', { level: 1, name: 'Tasks' })).toBeVisible();
  await daemon.run();
  await daemon.submit(task('after.restart', { key: 'after-restart' }));
  const again = page.getByRole('dialog', { name: 'Your session has ended' }); // sessions are in the daemon's memory
  await again.getByLabel('Token').fill(daemon.token);
  await again.getByRole('button', { name: 'Log in' }).click();
  await expect(again).toHaveCount(0);
  await expect(page.getByText('after-restart')).toBeVisible();
  await expect(page.locator('.liveness')).toContainText('live');
});

test('5,000 tasks that arrive while one reads do not move the rows', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 60 }, () => task('storm.one', { delay_ms: 3_600_000 })) });
  const page = await open('/tasks?handler=storm.one');
  const first = page.getByRole('checkbox', { name: /^Select task/ }).first();
  await first.check();
  const top = () => page.locator('tr[data-row]').first().getAttribute('data-row');
  const before = await top();
  await daemon.call('POST', '/v1/tasks', {
    tasks: Array.from({ length: 5_000 }, () => task('storm.one', { delay_ms: 3_600_000 })),
  });
  await expect(page.getByRole('button', { name: 'Newer tasks' })).toBeVisible({ timeout: 20_000 });
  expect(await top()).toBe(before);
  await page.getByRole('button', { name: 'Newer tasks' }).click();
  await expect.poll(top).not.toBe(before);
});

test('older pages follow without a gap or a repetition', async ({ open, daemon }) => {
  await daemon.call('POST', '/v1/tasks', { tasks: Array.from({ length: 120 }, () => task('older.one', { delay_ms: 3_600_000 })) });
  const page = await open('/tasks?handler=older.one');
  await page.getByRole('button', { name: 'Show older' }).click();
  await expect(page.getByRole('row')).toHaveCount(101);
  const ids = await page.locator('tr[data-row]').evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.row!));
  expect(new Set(ids).size).toBe(100);
  expect(ids).toEqual([...ids].sort((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1)));
});
