// No text that a person reads is written in the code: all of them are in src/i18n, in both languages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../src');
const READ_ALOUD = /^(title|label|placeholder|aria-label|alt|hint|lead|shown|text)$/;

// What stays as it is in every language, and what no person reads.
const ALLOWED = new Set([
  'EasyRetry',
  'curl',
  'er_…',
  'no session around', // a mistake in the code
  'there is nothing at ', // of the daemon
  'late tasks', // a check of the daemon
  'circuit ', // of the API
  'dry run', // a key of the cache, and a reason that is not kept
  'exponential first=1s factor=2 cap=15m jitter=1s',
  'easyretry token create billing --role submitter --namespace shop',
  'easyretry token list',
  'easyretry token revoke billing',
]);

function isText(node: ts.Node): node is ts.StringLiteral | ts.TemplateLiteralLikeNode {
  return ts.isStringLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isNoSubstitutionTemplateLiteral(node);
}

// Words in a literal: two in a row, or one before a value; any word where the text is shown or read aloud.
function wordsOf(node: ts.Node): string | undefined {
  if (ts.isJsxText(node)) return /[A-Za-z]{2,}/.test(node.text) ? node.text.trim() : undefined;
  if (!isText(node)) return undefined;
  const shown = ts.isJsxAttribute(node.parent) && READ_ALOUD.test(node.parent.name.getText());
  return (shown ? /[A-Za-z]{2,}/ : /[A-Za-z]{2,},? [a-z]|\b[A-Za-z]{3,} $/).test(node.text) ? node.text : undefined;
}

export function hardCoded(name: string, code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const names = ts.isJsxAttribute(node) || ts.isPropertyAssignment(node);
    if (ts.isImportDeclaration(node) || (names && node.name.getText() === 'className')) return;
    if (ts.isJsxElement(node) && /^(code|kbd)$/.test(node.openingElement.tagName.getText())) return;
    const words = wordsOf(node);
    if (words && !ALLOWED.has(words)) found.push(words);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX));
  return found;
}

test('texts in the code are found', () => {
  const code = 'const a = <p title="Hello">It works {b} <code>ls -l</code></p>; tell(`request ${id}`); t("a.b"); <i className="x y" />';
  expect(hardCoded('a.tsx', code)).toEqual(['Hello', 'It works', 'request ']);
});

test('no text that a person reads is written in the code', () => {
  // Selectors, fonts and names of locks have spaces, too.
  const technical = new Set(['main ', 'main tr[data-row] a', 'a, button, input', 'px system-ui, sans-serif', 'easyretry ']);
  for (const entry of readdirSync(FOLDER, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || entry.name === 'schema.d.ts') continue;
    const code = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    expect([entry.name, ...hardCoded(entry.name, code).filter((text) => !technical.has(text))]).toEqual([entry.name]);
  }
});
