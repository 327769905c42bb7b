// Every text exists in both languages, and no text is left over.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import en from '../../src/i18n/en.json';
import otherEn from '../../src/i18n/others-en.json';
import otherZh from '../../src/i18n/others-zh.json';
import zh from '../../src/i18n/zh.json';
import { chosenLanguage } from '../../src/i18n';
import { readPrefs } from '../../src/lib/prefs';

type Tree = { [key: string]: string | Tree };

function flat(tree: Tree, prefix = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') texts.set(prefix + key, value);
    else for (const [name, text] of flat(value, `${prefix}${key}.`)) texts.set(name, text);
  }
  return texts;
}

function sources(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && entry.name !== 'schema.d.ts')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

const plain = (key: string) => key.replace(/_(one|other)$/, '');
const english = new Map([...flat(en), ...flat(otherEn)]);
const { refusal, ...ownZh } = zh; // the daemon speaks English, so only other languages need sentences for its refusals
const chinese = new Map([...flat(ownZh), ...flat(otherZh)]);
const code = sources(join(import.meta.dirname, '../../src'));
// t('a.b') and t(cond ? 'a.b' : 'a.c'), and the beginnings of t(`a.${x}`).
const literal = new Set([...code.matchAll(/'([a-z]+(?:\.[\w]+)+)'/g)].map((found) => found[1]!));
const begun = [...code.matchAll(/t\(\s*`([^`]*)`/g)].map(
  (found) =>
    new RegExp(
      `^${found[1]!
        .replace(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, '[^.]+')
        .replaceAll('.', '\\.')
        .replaceAll('[^\\.]', '[^.]')}$`,
    ),
);
const used = (key: string) => literal.has(plain(key)) || begun.some((pattern) => pattern.test(plain(key)));

// The files that the first page needs: all that main.tsx imports, and what they import, without the other pages.
function firstPage(file = join(import.meta.dirname, '../../src/main.tsx'), seen = new Set<string>()): Set<string> {
  if (seen.has(file) || file.endsWith('pages/others.ts') || !/\.tsx?$/.test(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  for (const [, path] of imports) {
    const base = join(dirname(file), path!);
    const found = ['.tsx', '.ts', '/index.ts'].map((end) => base + end).find((each) => existsSync(each));
    if (found) firstPage(found, seen);
  }
  return seen;
}

describe('languages', () => {
  test('the first page has its texts without those of the others', () => {
    const first = [...firstPage()].map((file) => readFileSync(file, 'utf8')).join('\n');
    const asked = [...first.matchAll(/\bt\([^`)]*?'([a-z]+(?:\.\w+)+)'/g)].map((found) => found[1]!);
    const known = new Set([...flat(en).keys()].map(plain));
    expect(asked.length).toBeGreaterThan(30);
    expect(asked.filter((key) => !known.has(key))).toEqual([]);
    expect([...flat(otherEn).keys()].filter((key) => flat(en).has(key))).toEqual([]);
  });

  test('have the same texts', () => {
    expect(new Set([...chinese.keys()].map(plain))).toEqual(new Set([...english.keys()].map(plain)));
  });

  test('have the same values to fill in', () => {
    const values = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((found) => found[1]!).sort();
    for (const [key, text] of chinese) {
      const other = english.get(key) ?? english.get(`${plain(key)}_other`)!;
      // A Chinese plural form may say the number where the English one says "one".
      if (!key.endsWith('_other')) expect([key, values(text)]).toEqual([key, values(other)]);
    }
  });

  test('a Chinese text is Chinese', () => {
    const names = new Set(['column.id', 'task.attemptsOf', 'bulk.confirm', 'doctor.item.comma']);
    for (const [key, text] of chinese) if (!names.has(key)) expect([key, /\p{Script=Han}/u.test(text)]).toEqual([key, true]);
  });

  test('every text that the code uses exists', () => {
    const known = new Set([...english.keys()].map(plain));
    const asked = [...code.matchAll(/\bt\(\s*'([^']+)'/g)].map((found) => found[1]!);
    expect(asked.filter((key) => !known.has(key))).toEqual([]);
  });

  test('every text is used', () => {
    // A key that begins with a variable would count as a use of every text.
    expect(code).not.toMatch(/\bt\(\s*`\$\{/);
    expect([...english.keys()].filter((key) => !used(key))).toEqual([]);
  });

  test('the language is the chosen one, or the first of the browser that there is', () => {
    const auto = readPrefs(null);
    expect(chosenLanguage(auto, ['fr', 'zh-TW', 'en'])).toBe('zh');
    expect(chosenLanguage(auto, ['fr'])).toBe('en');
    expect(chosenLanguage({ ...auto, language: 'zh' }, ['en'])).toBe('zh');
  });
});
