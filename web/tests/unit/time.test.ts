import { afterEach, describe, expect, test } from 'vitest';
import { absolute, clockError, duration, hearServerTime, now, relative, toApiTime, toLocalInput } from '../../src/lib/time';

afterEach(() => hearServerTime(new Date().toISOString()));

describe('times', () => {
  const at = Date.parse('2026-03-01T12:00:00Z');

  test('are relative to the store, also if the clock of the browser is an hour off', () => {
    hearServerTime(new Date(Date.now() + 3_600_000).toISOString());
    expect(Math.abs(now() - Date.now() - 3_600_000)).toBeLessThan(1_000);
    expect(clockError()).toBeGreaterThan(3_500_000);
  });

  test('a missing or strange header changes nothing', () => {
    hearServerTime(null);
    hearServerTime('yesterday');
    expect(clockError()).toBe(0);
  });

  test('an hour is not said before it is over', () => {
    expect(relative(at - 3_599_000, 'en', at)).toBe('59 min. ago');
    expect(relative(at - 3_600_000, 'en', at)).toBe('1 hr. ago');
    expect(relative(at + 90_000, 'en', at)).toBe('in 1 min.');
    expect(relative(at - 300, 'en', at)).toBe('now');
    expect(relative(at - 7_200_000, 'zh', at)).toBe('2小时前');
  });

  test('the absolute time is that of the chosen zone', () => {
    expect(absolute(at, 'en', 'Asia/Shanghai')).toContain('20:00:00');
    expect(absolute(at, 'en', 'UTC')).toContain('12:00:00');
  });

  test('an invalid time is shown as it is', () => {
    expect(absolute('soon', 'en', 'UTC')).toBe('soon');
  });

  test('durations have their two largest units', () => {
    expect([0, 0.25, 45, 1_000, 1_540, 45_000, 200_000, 3_600_000, 100_000_000].map(duration)).toEqual([
      '0 ms',
      '0.3 ms',
      '45 ms',
      '1 s',
      '1.5 s',
      '45 s',
      '3 min 20 s',
      '1 h',
      '1 d 3 h',
    ]);
    expect(duration(NaN)).toBe('–');
  });

  test('an input in a zone becomes UTC and back, also across summer time', () => {
    expect(toApiTime('2026-07-01T14:00', 'Europe/Berlin')).toBe('2026-07-01T12:00:00.000Z');
    expect(toApiTime('2026-12-01T14:00', 'Europe/Berlin')).toBe('2026-12-01T13:00:00.000Z');
    expect(toLocalInput('2026-07-01T12:00:00.000Z', 'Europe/Berlin')).toBe('2026-07-01T14:00:00');
    expect(toApiTime('', 'UTC')).toBe('');
    expect(toApiTime('not a time', 'UTC')).toBe('');
    expect(toLocalInput('', 'UTC')).toBe('');
  });
});
