// The committed web/dist: its size, and that it needs nothing from elsewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const dist = join(import.meta.dirname, '../../dist');
const files = readdirSync(dist, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name !== 'licences.txt')
  .map((entry) => join(entry.parentPath, entry.name));
const size = (file: string) => gzipSync(readFileSync(file), { level: 9 }).length;
const total = (some: string[]) => some.reduce((sum, file) => sum + size(file), 0);
const html = readFileSync(join(dist, 'index.html'), 'utf8');

describe('the built page', () => {
  test('has at most 250 kB, compressed', () => {
    expect(total(files)).toBeLessThanOrEqual(250_000);
  });

  test('needs at most 150 kB for the overview, with its charts, in English', () => {
    const later = /\/(others|zh)-[^/]*$/;
    expect(total(files.filter((file) => !later.test(file)))).toBeLessThanOrEqual(150_000);
  });

  test('has no inline script or style, which the Content-Security-Policy forbids', () => {
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    for (const file of files.filter((each) => each.endsWith('.js'))) {
      const code = readFileSync(file, 'utf8');
      expect([file, /\beval\(|new Function\(/.test(code)]).toEqual([file, false]);
    }
  });

  test('loads nothing from another host, and nothing by an absolute path', () => {
    for (const [, url] of html.matchAll(/(?:src|href)="([^"]+)"/g)) expect(url).toMatch(/^\.\//);
    for (const file of files.filter((each) => each.endsWith('.css'))) {
      for (const [, url] of readFileSync(file, 'utf8').matchAll(/url\(["']?([^)"']+)/g)) expect(url).toMatch(/^data:|^\.\//);
    }
  });

  test('no committed file names a package registry', () => {
    for (const name of ['package-lock.json', 'package.json', '.npmrc']) {
      expect(readFileSync(join(dist, '..', name), 'utf8')).not.toMatch(
        /"resolved"|registry\s*=|https?:\/\/[^"]*(registry\.|npmjs)/,
      );
    }
  });
});
