// The refusals of the daemon, in the language of the page.
import i18next from 'i18next';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ApiError } from '../../src/api/client';
import en from '../../src/i18n/en.json';
import zh from '../../src/i18n/zh.json';
import { hintOf, said } from '../../src/ui/said';

const folder = join(import.meta.dirname, '../../../src/server');
const source = readdirSync(folder)
  .filter((name) => name.endsWith('.cpp'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');
const codes = new Set([...source.matchAll(/\{\s*[45]\d\d,\s*"(\w+)"/g)].map((found) => found[1]!));

// What only programs meet: workers, submitters, and requests that the page does not send.
const FOR_PROGRAMS = new Set([
  'bad_request',
  'idempotency_key_reused',
  'lease_lost',
  'method_not_allowed',
  'split_running',
  'too_many_handlers',
  'unknown_field',
  'unknown_host',
  'wrong_order',
]);

beforeAll(() => i18next.init({ lng: 'zh', resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } }));

test('every refusal that a person meets here has its Chinese sentence', () => {
  const known = new Set([...Object.keys(zh.refusal), ...FOR_PROGRAMS]);
  expect(codes.size).toBeGreaterThan(25);
  expect([...codes].filter((code) => !known.has(code))).toEqual([]);
  for (const [code, { said, todo }] of Object.entries(zh.refusal)) {
    expect([code, codes.has(code)]).toEqual([code, true]);
    expect([code, /\p{Script=Han}/u.test(said), todo === '' || /\p{Script=Han}/u.test(todo)]).toEqual([code, true, true]);
  }
});

test('a refusal is said in Chinese, with what to do; in English in the words of the daemon', () => {
  const refusal = new ApiError(409, 'changed', 'task 7 was changed at the same time', 'read it again, then retry');
  expect([said(refusal, i18next.t), hintOf(refusal, i18next.t)]).toEqual(['该任务同时被其他人修改', '请重新查看，然后再试']);
  const english = i18next.getFixedT('en');
  expect([said(refusal, english), hintOf(refusal, english)]).toEqual([refusal.message, refusal.hint]);
});

test('a refusal that the page does not know stays in the words of the daemon', () => {
  const refusal = new ApiError(418, 'teapot', 'this is a teapot', 'use a kettle');
  expect([said(refusal, i18next.t), hintOf(refusal, i18next.t)]).toEqual(['this is a teapot', 'use a kettle']);
});
