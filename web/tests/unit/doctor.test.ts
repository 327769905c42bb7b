// The findings of the doctor, in the language of the page.
import i18next from 'i18next';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import en from '../../src/i18n/en.json';
import zh from '../../src/i18n/zh.json';
import type { DoctorCheck } from '../../src/api/contract';
import { inWords } from '../../src/pages/overview/in-words';

const source = readFileSync(join(import.meta.dirname, '../../../src/server/doctor.cpp'), 'utf8');
const paused = {
  check: 'paused',
  result: 'warn' as const,
  what: 'crm.sync (since 3 min, 9 tasks)',
  todo: 'to run them again: `easyretry handlers resume crm.sync`',
};

beforeAll(() => i18next.init({ lng: 'zh', resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } }));

test('a known finding is said in Chinese, with its values', () => {
  const items = [{ name: 'crm.sync', for_ms: '180000', tasks: '9', why: '' }];
  expect(inWords({ ...paused, code: 'paused', values: { first: 'crm.sync' }, items }, i18next.t)).toEqual({
    check: '暂停',
    what: '已暂停：crm.sync（已 3 min，9 个任务）',
    todo: '恢复执行：`easyretry handlers resume crm.sync`',
  });
});

// A finding as the daemon says it, and what the page makes of it in English.
const said: Omit<DoctorCheck, 'result' | 'todo'>[] = [
  {
    check: 'late tasks',
    code: 'late_and_less_late',
    what: 'due for more than 5 min and not running: mail (22 min) and 4 more, and, less late, pay (3 min)',
    values: { above_ms: '300000', more: '4' },
    items: [
      { name: 'mail', for_ms: '1320000' },
      { name: 'pay', for_ms: '180000', group: 'less_late' },
    ],
  },
  {
    check: 'handlers',
    code: 'handlers_unserved',
    what: 'served by no instance or worker: a (1 tasks), mail.sent (9 tasks; did you mean mail.send?)',
    values: {},
    items: [
      { name: 'a', tasks: '1' },
      { name: 'mail.sent', tasks: '9', did_you_mean: 'mail.send' },
    ],
  },
  {
    check: 'paused',
    code: 'paused',
    what: 'crm (since 3 min, 9 tasks: NACHTRUHE)',
    values: { first: 'crm' },
    items: [{ name: 'crm', for_ms: '180000', tasks: '9', why: 'NACHTRUHE' }],
  },
  {
    check: 'circuits',
    code: 'circuits_held_open',
    what: 'open: a (for 3 min, about 0.333 starts a second), b (for 3 min, by hand)',
    values: { ordered: 'b' },
    items: [
      { name: 'a', for_ms: '180000', starts_per_second: '0.333' },
      { name: 'b', for_ms: '180000' },
    ],
  },
  {
    check: 'limits',
    code: 'limits_hold',
    what: 'hold tasks back: handler pay (for 3 min, 7 due tasks), circuit bank (for 3 min, 1 due tasks)',
    values: {},
    items: [
      { kind: 'handler', name: 'pay', for_ms: '180000', tasks: '7' },
      { kind: 'circuit', name: 'bank', for_ms: '180000', tasks: '1' },
    ],
  },
  { check: 'instances', code: 'instances', what: '1, by alone', values: { count: '1', source: 'alone' }, items: [] },
];

test('in English, the sentences are those of the daemon', () => {
  const english = i18next.getFixedT('en');
  for (const finding of said) expect(inWords({ ...finding, result: 'warn', todo: '' }, english).what).toBe(finding.what);
});

test('in Chinese, nothing but names and units is English', () => {
  for (const finding of said) {
    const { what } = inWords({ ...finding, result: 'warn', todo: '' }, i18next.t);
    const names = finding.items!.flatMap((item) => [item.name, item.did_you_mean, item.why]).filter(Boolean) as string[];
    const rest = names.reduce((text, name) => text.replace(name, ''), what).replace(/\b(min|s)\b/g, '');
    expect([what, /[A-Za-z]|\{\{/.test(rest)]).toEqual([what, false]);
  }
});

test('a finding that the page does not know stays in the words of the daemon', () => {
  const { what, todo } = paused;
  expect(inWords(paused, i18next.t)).toEqual({ check: '暂停', what, todo });
  expect(inWords({ ...paused, check: 'comets', code: 'comets_near', items: [] }, i18next.t)).toEqual({ check: 'comets', what, todo });
});

test('every finding of the daemon has its sentence, and the English ones are its own', () => {
  const codes = [...source.matchAll(/"((?:instances|late|quarantined|handlers|paused|circuits|limits)(?:_\w+)?)"/g)].map((found) => found[1]!);
  expect(new Set(Object.keys(en.doctor.what))).toEqual(new Set(codes.filter((code) => !['handlers', 'circuits', 'limits'].includes(code))));
  const joined = source.replace(/"\s+"/g, '');
  for (const [code, todo] of Object.entries(en.doctor.todo))
    for (const part of todo.split(/`?; one that|\{\{/)) if (!part.includes('}}')) expect([code, joined.includes(part)]).toEqual([code, true]);
});
