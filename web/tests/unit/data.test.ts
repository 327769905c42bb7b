import { describe, expect, test } from 'vitest';
import { changeOf } from '../../src/pages/task/edit-policy';
import { recentOf } from '../../src/pages/handlers/recent';
import { heldOf, startsOf } from '../../src/pages/handlers/circuits';
import { subjectOf } from '../../src/pages/handlers/limits';
import { heat, shardCount } from '../../src/pages/instances/shards';
import { found, taskOf } from '../../src/pages/audit/audit-page';
import { troubleWith } from '../../src/pages/task/arguments-editor';
import { allowedActions, requeueBody } from '../../src/api/actions';
import type { Task } from '../../src/api/contract';
import { classOf } from '../../src/lib/classes';
import { isTaskId, listUrl, parseFilters } from '../../src/lib/filters';
import { ofNamespace, parseMetrics, quantile, sum } from '../../src/lib/metrics';
import { readPrefs } from '../../src/lib/prefs';
import { ended, runsOf, stepsOf, sumOf } from '../../src/lib/series';
import { troubleOf } from '../../src/lib/trouble';

describe('filters', () => {
  test('go through the URL unchanged', () => {
    const filters = { handler: 'a/b c', key: 'ключ&=?#', outcome: 'exhausted' };
    expect(parseFilters(listUrl('history', filters).split('?')[1]!, 'history')).toEqual(filters);
  });

  test('what the API would refuse is dropped', () => {
    expect(parseFilters('state=finished&outcome=lost&handler=&x=1&created_from=yesterday&requeued=maybe', 'history')).toEqual({});
    expect(parseFilters('state=running&outcome=exhausted', 'tasks')).toEqual({ state: 'running' });
  });

  test('those without an index are checked as the API would', () => {
    const filters = { tag: 'vip', attempts_from: '3', error: '002d50e618190060', owner: 'a-1', due_from: '2026-03-01T00:00:00Z' };
    expect(parseFilters(listUrl('tasks', filters).split('?')[1]!, 'tasks')).toEqual(filters);
    expect(parseFilters('attempts_from=0&error=%3Cscript%3E&due_until=soon', 'tasks')).toEqual({});
    expect(parseFilters('owner=a-1&due_from=2026-03-01&attempts_from=2', 'history')).toEqual({ attempts_from: '2' });
  });

  test('a class is one of the three, in both lists', () => {
    for (const kind of ['tasks', 'history'] as const) {
      expect(parseFilters('class=normal', kind)).toEqual({ class: 'normal' });
      expect(parseFilters('class=highest', kind)).toEqual({});
    }
  });

  test('digits are an id, anything else is a key', () => {
    expect(['910787377222441509', '0'].every(isTaskId)).toBe(true);
    expect(['', '12345678901234567890', 'order-7', '１２'].some(isTaskId)).toBe(false);
  });
});

describe('circuits', () => {
  test('say how many may start, while they are open', () => {
    expect(startsOf({ state: 'closed' })).toBe('–');
    expect(startsOf({ state: 'open', starts_per_second: 1 / 3 })).toBe('0.33/s');
    expect(startsOf({ state: 'open', starts_per_second: 1234.5 })).toBe('1200/s');
    const order = { state: 'open' as const, since: '2026-03-01T12:00:00Z', why: '' };
    expect(startsOf({ state: 'open', starts_per_second: 1, order })).toBe('0/s');
  });

  test('say how many tasks they hold: all of them, or only retries', () => {
    expect(heldOf({ state: 'closed', held: 0 })).toBe('–');
    expect(heldOf({ state: 'open', held: 12, held_retries: 7, retries_held_since: '2026-03-01T12:00:00Z' })).toBe('12');
    expect(heldOf({ state: 'closed', held: 0, held_retries: 0 })).toBe('–');
    expect(heldOf({ state: 'closed', held: 0, held_retries: 7, retries_held_since: '2026-03-01T12:00:00Z' })).toBe('7');
  });
});

describe('limits', () => {
  test('are told by what they limit, whatever its name is', () => {
    expect(subjectOf({ subject: 'handler payment.pay' })).toEqual({ kind: 'handler', name: 'payment.pay' });
    expect(subjectOf({ subject: 'circuit handler gateway' })).toEqual({ kind: 'circuit', name: 'handler gateway' });
  });
});

describe('classes', () => {
  test('a task without one is normal', () => {
    expect(classOf({})).toBe('normal');
    expect(classOf({ class: 'urgent' })).toBe('urgent');
  });

  test('a requeued task gets arguments as they were typed, and a class, only if they were chosen', () => {
    expect(requeueBody({})).toBe('{}');
    expect(requeueBody({ args: '[9007199254740993]' })).toBe('{"args":[9007199254740993]}');
    expect(requeueBody({ args: '[1]', class: 'urgent' })).toBe('{"args":[1],"class":"urgent"}');
  });
});

describe('metrics', () => {
  const samples = parseMetrics(
    [
      '# HELP x y',
      'easyretry_running_tasks{namespace="default"} 3',
      'easyretry_backlog_tasks{namespace="default",handler="a\\"b\\\\c"} 7',
      'run_bucket{handler="m",le="0.01"} 50',
      'run_bucket{handler="m",le="0.1"} 90',
      'run_bucket{handler="m",le="+Inf"} 100',
    ].join('\n'),
  );
  test('labels are unescaped, sums filtered', () => {
    expect(samples[1]!.labels.handler).toBe('a"b\\c');
    expect(sum(samples, 'easyretry_running_tasks')).toBe(3);
    expect(sum(samples, 'easyretry_running_tasks', { namespace: 'other' })).toBe(0);
  });
  test('quantiles are interpolated, and missing without samples', () => {
    expect(quantile(samples, 'run', { handler: 'm' }, 0.5)).toBeCloseTo(0.01);
    expect(quantile(samples, 'run', { handler: 'm' }, 0.7)).toBeCloseTo(0.055);
    expect(quantile(samples, 'run', { handler: 'm' }, 0.99)).toBe(0.1);
    expect(quantile(samples, 'run', { handler: 'other' }, 0.5)).toBeUndefined();
  });
});

describe('settings', () => {
  test('anything in the storage is survived', () => {
    for (const text of [null, '', 'null', '[]', '{"zone":"Mars/Olympus","pageSize":-1,"theme":7,"columns":3}']) {
      expect(readPrefs(text)).toEqual({ language: 'auto', theme: 'system', zone: 'local', pageSize: 50, columns: {} });
    }
    expect(readPrefs('{"zone":"UTC","language":"zh"}')).toMatchObject({ zone: 'UTC', language: 'zh' });
  });
});

describe('the audit log', () => {
  const entry = {
    at: '2026-03-01T12:00:00.000Z',
    by: 'Ann',
    from: '10.0.0.7',
    namespace: 'shop',
    request: 'POST /v1/tasks/17/cancel',
    request_id: 'r1',
    said: '',
    status: '200',
  };
  test('is searched by token, request and address', () => {
    expect(['', ' ann ', '/17/', '10.0', '200'].every((text) => found(entry, text))).toBe(true);
    expect(['bob', 'shop'].some((text) => found(entry, text))).toBe(false);
  });
  test('leads to the task that was changed', () => {
    expect(['POST /v1/tasks/17/cancel', 'PATCH /v1/tasks/17'].map(taskOf)).toEqual(['17', '17']);
    expect(['POST /v1/bulk', 'POST /v1/tasks/x/cancel', 'POST /v1/tasks/17x'].map(taskOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('changed arguments', () => {
  test('must be JSON', () => {
    expect([troubleWith('[{"id":9007199254740993}]'), troubleWith('null')]).toEqual([undefined, undefined]);
    expect(troubleWith('[{"id":]')).toContain('JSON');
    expect(troubleWith('')).toBeDefined();
  });
});

describe('actions', () => {
  const task = { state: 'pending', stage: 'run' } as Task;
  test('are those that the state allows', () => {
    expect(allowedActions(task)).toEqual(['retry', 'cancel', 'complete', 'fail']);
    expect(allowedActions({ ...task, state: 'running' })).toEqual(['cancel', 'complete', 'fail']);
    expect(allowedActions({ ...task, stage: 'on_success' })).toEqual(['retry']);
    expect(allowedActions({ ...task, state: 'finished' })).toEqual(['requeue']);
    expect(allowedActions({ ...task, state: 'finished', requeued_as: '7' })).toEqual([]);
  });

  test('only what was edited is sent', () => {
    const before = { attempts: '16', duration: '0', deadline: '', backoff: 'fixed delay=1s jitter=none' };
    expect(changeOf(before, before, 'UTC')).toEqual({});
    expect(changeOf(before, { ...before, attempts: '3', duration: '2h' }, 'UTC')).toEqual({
      max_attempts: 3,
      max_duration_ms: 7_200_000,
    });
    const dated = { ...before, deadline: '2026-03-01T12:00' };
    expect(changeOf(before, dated, 'UTC')).toEqual({ deadline: '2026-03-01T12:00:00.000Z' });
    expect(changeOf(dated, before, 'UTC')).toEqual({ deadline: null });
  });
});

describe('series with steps that were not measured', () => {
  const series = {
    step_ms: 10_000,
    from: 0,
    series: {
      stored: [null, 4, null, null, 9, null],
      backlog: [null, 7, null, null, 5, null],
      late_p50_ms: [null, null, null, null, 20, null],
    },
  };
  test('have no values: nothing is spread over them, and nothing repeated', () => {
    expect(ended(series).series).toEqual({
      stored: [null, 4, null, null, 9],
      backlog: [null, 7, null, null, 5],
      late_p50_ms: [null, null, null, null, 20],
    });
    expect(ended({ step_ms: 1, from: 0, series: {} }).series).toEqual({});
    expect(ended({ step_ms: 1, from: 0, series: { stored: [null], backlog: [null] } }).series).toEqual({ stored: [], backlog: [] });
  });
  test('a step without attempts at the end of the series stays, although it has no lateness', () => {
    expect(ended({ ...series, series: { backlog: [1, 2], late_p50_ms: [9, null] } }).series.late_p50_ms).toEqual([9, null]);
  });
  test('are gaps in small pictures, too', () => {
    expect(runsOf([null, 4, 0, null, 9])).toEqual([
      { from: 1, values: [4, 0] },
      { from: 4, values: [9] },
    ]);
    expect(runsOf([null, null])).toEqual([]);
  });
  test('do not count in sums and means', () => {
    expect([sumOf(series.series.stored), stepsOf(series.series.stored)]).toEqual([13, 2]);
    expect([sumOf(undefined), stepsOf(undefined)]).toEqual([0, 0]);
  });
});

describe('estimates', () => {
  const recent = { measured_ms: 20_000, stored: 2, succeeded: 10, ended_badly: 0 };
  test('a backlog that grows has no end', () => {
    expect(recentOf({ live: 80, recent })?.etaMs).toBe(200_000);
    expect(recentOf({ live: 80, recent: { ...recent, stored: 18 } })?.etaMs).toBeUndefined();
    expect(recentOf({ live: 0, recent })?.etaMs).toBeUndefined();
  });

  test('the last ten minutes of a handler: its pace and how much of it fails', () => {
    const counts = { measured_ms: 20_000, stored: 0, succeeded: 80, ended_badly: 20 };
    expect(recentOf({ live: 0, recent: counts })).toEqual({ perSecond: 100 / 20, ended: 100, badly: 20, etaMs: undefined });
    expect(recentOf({ live: 5 })).toBeUndefined();
  });

  test('the worst handler comes first', () => {
    const fine = { served: true, live: 5, ended: { succeeded: 10 } };
    const order = [
      troubleOf(fine, 0),
      troubleOf({ ...fine, ended: { succeeded: 1, exhausted: 1 } }, 0),
      troubleOf({ ...fine, paused: {} }, 0),
      troubleOf({ ...fine, served: false }, 0),
      troubleOf(fine, 600_000),
    ];
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test('shards double from 64, and colours follow the lateness', () => {
    expect([shardCount({}), shardCount({ '63': 1 }), shardCount({ '64': 1 }), shardCount({ '200': 1 })]).toEqual([
      64, 64, 128, 256,
    ]);
    expect([undefined, 0, 999, 1_000, 30_000, 300_000].map(heat)).toEqual([0, 1, 1, 2, 3, 4]);
  });
});

test('of the numbers of all namespaces, only those of the chosen one count', () => {
  const text = 'runs{namespace="default"} 3\nruns{namespace="shop"} 40\nalerts 5\n';
  const chosen = (name: string, from = text) => ofNamespace(parseMetrics(from), name).map((each) => each.value);
  expect([chosen(''), chosen('shop')]).toEqual([[3, 5], [40, 5]]);
  expect(chosen('', 'runs{namespace="orders"} 7\n')).toEqual([7]); // the default one has another name
});
