// The findings of the doctor, in the language of the page.
import i18next from 'i18next';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import en from '../../src/i18n/en.json';
import zh from '../../src/i18n/zh.json';
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
  const values = { handlers: 'crm.sync (since 3 min, 9 tasks)', first: 'crm.sync' };
  expect(inWords({ ...paused, code: 'paused', values }, i18next.t)).toEqual({
    check: '暂停',
    what: 'crm.sync (since 3 min, 9 tasks)',
    todo: '恢复执行：`easyretry handlers resume crm.sync`',
  });
});

test('a finding that the page does not know stays in the words of the daemon', () => {
  const { what, todo } = paused;
  expect(inWords(paused, i18next.t)).toEqual({ check: '暂停', what, todo });
  expect(inWords({ ...paused, check: 'comets', code: 'comets_near' }, i18next.t)).toEqual({ check: 'comets', what, todo });
});

test('every finding of the daemon has its sentence, and the English ones are its own', () => {
  const codes = [...source.matchAll(/"((?:instances|late|quarantined|handlers|paused|circuits|limits)(?:_\w+)?)"/g)].map((found) => found[1]!);
  expect(new Set(Object.keys(en.doctor.what))).toEqual(new Set(codes.filter((code) => !['handlers', 'circuits', 'limits'].includes(code))));
  const joined = source.replace(/"\s+"/g, '');
  for (const [code, todo] of Object.entries(en.doctor.todo))
    for (const part of todo.split(/`?; one that|\{\{/)) if (!part.includes('}}')) expect([code, joined.includes(part)]).toEqual([code, true]);
});
