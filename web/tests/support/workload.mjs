// A small shop: mails, payments and exports that fail now and then. Used for screenshots, and to look at the pages.

const FAILURES = {
  'mail.send': [
    'SMTP 451 4.7.1: greylisted, try again in 300 seconds',
    'connect to smtp.example.com:587: connection timed out after 10000 ms',
  ],
  'payment.capture': [
    'HTTP 503 from https://gateway.example/v2/capture: {"error": "upstream unavailable", "ref": "a81f-2210"}',
    'card declined: insufficient funds (order 48213)',
  ],
  'report.export': ['S3 PutObject: SlowDown, please reduce your request rate (request 7F3A)'],
  'invoice.render': ['template "invoice-2026" has no field "vat_id"'],
};

const pick = (list, n) => list[n % list.length];
let sequence = 0;

export function task(handler, more = {}) {
  const n = ++sequence;
  return {
    handler,
    key: `order-${48_000 + n}:${handler.split('.')[1]}`,
    business_type: 'order',
    business_id: String(48_000 + n),
    tags: n % 3 ? ['shop'] : ['shop', 'eu'],
    args: [{ order: String(48_000 + n), amount: 19.9 + (n % 70), customer: { name: 'Ann Example', id: '9007199254740993' } }],
    ...more,
  };
}

// A task that has been tried for a while: the submitter may say so.
export function triedTask(handler, attempts, n) {
  const error = pick(FAILURES[handler] ?? ['timeout after 30000 ms'], n);
  return task(handler, {
    attempts,
    error,
    delay_ms: 20_000 + n * 17_000,
    policy: { max_attempts: 8, backoff: 'exponential first=2s factor=2 cap=15m jitter=1s' },
  });
}

// One round: stores tasks, and works on those that are due. `share` of the attempts fails.
export async function round(daemon, { tasks = 20, share = 0.12 } = {}) {
  const handlers = Object.keys(FAILURES);
  for (let i = 0; i < tasks; i++) await daemon.submit(task(pick(handlers, i)));
  for (const handler of handlers) {
    let n = 0;
    await daemon.work(handler, (each) => {
      n++;
      if (Math.random() > share) return undefined;
      return { error: pick(FAILURES[handler], n).replace(/\d{4,}/, each.business_id), give_up: Math.random() < 0.3 };
    });
  }
}

// The state before one looks: history, retries ahead, a paused handler, one that no worker serves.
export async function prepare(daemon) {
  for (let i = 0; i < 4; i++) await round(daemon, { tasks: 60, share: 0.25 });
  for (let i = 0; i < 14; i++)
    await daemon.submit(triedTask(pick(['mail.send', 'payment.capture', 'report.export'], i), 1 + (i % 5), i));
  for (let i = 0; i < 9; i++) await daemon.submit(task('crm.sync'));
  await daemon.call('POST', '/v1/handlers/crm.sync/pause', { why: 'CRM migration until 18:00' });
  await daemon.submit(task('mail.sent'));
}
