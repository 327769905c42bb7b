import { describe, expect, test } from 'vitest';
import { indent, rawMember } from '../../src/lib/json';
import { EventParser } from '../../src/lib/sse';
import { curl } from '../../src/lib/curl';
import { bytes, percent, rate } from '../../src/lib/numbers';

describe('JSON as text', () => {
  test('large numbers keep every digit', () => {
    const text = '{"id":"1","args":[{"n":9007199254740993,"f":1.10}],"z":0}';
    expect(rawMember(text, 'args')).toBe('[{"n":9007199254740993,"f":1.10}]');
    expect(indent('[{"n":9007199254740993}]')).toBe('[\n  {\n    "n": 9007199254740993\n  }\n]');
  });

  test('a member inside another, or inside a string, is not taken for it', () => {
    expect(rawMember('{"a":{"args":1},"b":"\\"args\\":2","args":null}', 'args')).toBe('null');
    expect(rawMember('{"a":1}', 'args')).toBeUndefined();
    expect(rawMember('[1]', 'args')).toBeUndefined();
  });

  test('strings stay as they are, with brackets, quotes and scripts', () => {
    const text = '["</script><img src=x onerror=alert(1)>","a\\"}]",{},[]]';
    expect(indent(text).replace(/\n\s*/g, '')).toBe(text);
  });

  test('a text that was cut is still shown', () => {
    expect(indent('[{"a":"unfinis')).toContain('"unfinis');
  });

  test('a megabyte is indented in well under a second', () => {
    const text = JSON.stringify(Array.from({ length: 40_000 }, (_, i) => ({ n: i, text: 'x' })));
    const begin = performance.now();
    indent(text);
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});

describe('server-sent events', () => {
  test('are put together from pieces', () => {
    const parser = new EventParser();
    expect(parser.push('id: 1\nevent: stored\nda')).toEqual([]);
    expect(parser.push('ta: {"a":1}\n\n: nothing new\n\nevent: gap\n\n')).toEqual([
      { id: '1', event: 'stored', data: '{"a":1}' },
      { id: '', event: 'gap', data: '' },
    ]);
  });
});

describe('commands', () => {
  test('quotes in values do not end the argument', () => {
    expect(curl('POST', '/v1/tasks', { why: "it's" }, 'shop')).toBe(
      `curl -s -H "Authorization: Bearer $EASYRETRY_TOKEN" -H 'easyretry-namespace: shop' -X POST -d '{"why":"it'\\''s"}' 'http://127.0.0.1:7077/v1/tasks'`,
    );
  });
});

describe('numbers', () => {
  test('almost all is not all', () => {
    expect([percent(9_999, 10_000), percent(1, 1), percent(1, 3), percent(0, 0)]).toEqual(['99.99 %', '100 %', '33 %', '–']);
  });

  test('rates and sizes are short', () => {
    expect([rate(0), rate(0.333), rate(2.66), rate(1234)]).toEqual(['0', '0.33', '2.7', '1.2K']);
    expect([bytes(0), bytes(999), bytes(1_048_576)]).toEqual(['0 B', '999 B', '1.0 MB']);
  });
});
