import { describe, expect, test } from 'vitest';
import { expectedDelay, parseDuration, plan } from '../../src/lib/backoff';
import { lifeOf, place } from '../../src/lib/moments';
import type { KeptAttempt, Task } from '../../src/api/contract';

describe('waits of a policy', () => {
  test('durations are read as the daemon writes them', () => {
    expect(['250ms', '1s', '15m', '1h30m', '2d', '0'].map(parseDuration)).toEqual([250, 1_000, 900_000, 5_400_000, 172_800_000, 0]);
    expect(['', 'soon', '5', '1h soon'].every((text) => Number.isNaN(parseDuration(text)))).toBe(true);
  });

  test('follow the shapes of src/policy/decide.cpp', () => {
    const exponential = 'exponential first=1s factor=2 cap=15m jitter=none';
    expect([1, 2, 3, 20].map((n) => expectedDelay(exponential, n))).toEqual([2_000, 4_000, 8_000, 900_000]);
    expect([1, 2, 3].map((n) => expectedDelay('linear first=1s step=2s cap=4s jitter=none', n))).toEqual([1_000, 3_000, 4_000]);
    expect(expectedDelay('fixed delay=10s jitter=2s', 7)).toBe(11_000);
    expect([1, 2, 9].map((n) => expectedDelay('ladder steps=1s,5s jitter=none', n))).toEqual([1_000, 5_000, 5_000]);
    expect([1, 2, 3, 4, 5].map((n) => expectedDelay('classic', n))).toEqual([5_000, 20_000, 75_000, 320_000, 900_000]);
    expect(expectedDelay('exponential first=4s factor=2 cap=15m jitter=full', 1)).toBe(4_000);
  });

  test('a shape that is not known gives no false plan', () => {
    const input = { backoff: 'fibonacci first=1s', attempts: 1, next: 1_000, created: 0, maxAttempts: 5, maxDurationMs: 0 };
    expect(plan(input)).toEqual({ times: [1_000], more: true });
  });

  test('the plan ends where a stop rule does', () => {
    const input = {
      backoff: 'fixed delay=10s jitter=none',
      attempts: 2,
      next: 100_000,
      created: 0,
      maxAttempts: 5,
      maxDurationMs: 0,
    };
    expect(plan(input)).toEqual({ times: [100_000, 110_000, 120_000], more: false });
    expect(plan({ ...input, maxDurationMs: 110_000 }).times).toEqual([100_000, 110_000]);
    expect(plan({ ...input, deadline: 105_000 }).times).toEqual([100_000]);
    expect(plan({ ...input, maxAttempts: 0 }, 3)).toEqual({ times: [100_000, 110_000, 120_000], more: true });
  });
});

const now = Date.parse('2026-03-01T12:00:00Z');
const task: Task = {
  id: '17',
  namespace: 'default',
  key: 'k',
  handler: 'mail.send',
  tags: [],
  state: 'pending',
  stage: 'run',
  attempts: 2,
  crashes: 0,
  deliveries: 2,
  generation: 0,
  version: 4,
  created_at: '2026-03-01T11:59:00Z',
  first_failed_at: '2026-03-01T11:59:01Z',
  last_failed_at: '2026-03-01T11:59:30Z',
  next_at: '2026-03-01T12:00:30Z',
  policy: { max_attempts: 4, max_duration_ms: 0, backoff: 'fixed delay=30s jitter=none' },
};

describe('the life of a task', () => {
  test('has its past, its next attempt, the planned ones and their end', () => {
    expect(lifeOf(task, now).moments.map(({ kind, attempt }) => [kind, attempt])).toEqual([
      ['stored', undefined],
      ['first_failed', 1],
      ['failed', 2],
      ['next', 3],
      ['planned', 4],
      ['limit', undefined],
    ]);
  });

  test('kept attempts are listed one by one, with how each ended', () => {
    const attempt = (number: number, end: KeptAttempt['end'], second: number): KeptAttempt => ({
      number,
      end,
      ended_at: `2026-03-01T11:59:${second}Z`,
    });
    const kept: Task = { ...task, attempts: 7, last_failed_at: '2026-03-01T11:59:40Z' };
    kept.last_attempts = [attempt(7, 'failed', 40), attempt(7, 'crashed', 35), attempt(6, 'failed', 30)];
    const { moments } = lifeOf(kept, now);
    expect(moments.map(({ kind, attempt, missing }) => [kind, attempt, missing]).slice(0, 5)).toEqual([
      ['stored', undefined, undefined],
      ['first_failed', 1, 4],
      ['failed', 6, undefined],
      ['crashed', 7, undefined],
      ['failed', 7, undefined],
    ]);
  });

  test('the first failure is not listed twice when its attempt is kept', () => {
    const kept: Task = { ...task, attempts: 1, last_failed_at: task.first_failed_at! };
    kept.last_attempts = [{ number: 1, end: 'failed', ended_at: task.first_failed_at!, took_ms: 12, by: 'a', error: 'x' }];
    expect(lifeOf(kept, now).moments.map(({ kind }) => kind).slice(0, 3)).toEqual(['stored', 'failed', 'next']);
  });

  test('attempts after one that is late are planned from now on', () => {
    const late: Task = { ...task, next_at: '2026-03-01T11:59:50Z' };
    const [next, planned] = lifeOf(late, now).moments.slice(3);
    expect(next).toMatchObject({ kind: 'next', at: now - 10_000, future: false });
    expect(planned).toMatchObject({ kind: 'planned', at: now + 30_000, future: true });
  });

  test('a running attempt is not planned again', () => {
    const running: Task = { ...task, state: 'running', attempts: 3 };
    expect(lifeOf(running, now).moments.map(({ kind, attempt }) => [kind, attempt])).toEqual([
      ['stored', undefined],
      ['first_failed', 1],
      ['failed', 2],
      ['running', 3],
      ['planned', 4],
      ['limit', undefined],
    ]);
  });

  test('a finished task has no future', () => {
    const ended: Task = { ...task, state: 'finished', outcome: 'exhausted', finished_at: '2026-03-01T11:59:40Z' };
    const { moments } = lifeOf(ended, now);
    expect(moments.at(-1)?.kind).toBe('ended');
    expect(moments.some((moment) => moment.future)).toBe(false);
  });

  test('places keep the order, with now between past and future', () => {
    const from = now - 3_600_000;
    const until = now + 900_000;
    const times = [from, now - 60_000, now - 1_000, now, now + 2_000, until];
    const places = times.map((time) => place(time, from, now, until));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
    expect(place(now, now, now, now)).toBe(0);
  });
});
