// The life of a task as a list of moments: what is recorded, and the attempts that its policy plans.
import type { KeptAttempt, Task } from '../api/contract';
import { plan } from './backoff';

export type MomentKind = 'stored' | 'first_failed' | KeptAttempt['end'] | 'running' | 'next' | 'planned' | 'limit' | 'ended';

export interface Moment {
  kind: MomentKind;
  at: number; // ms
  attempt?: number;
  future: boolean;
  kept?: KeptAttempt; // what is known about an attempt
  missing?: number; // attempts between this moment and the next one, of which nothing is kept
}

const MOST_PLANNED = 6;

export interface Life {
  moments: Moment[];
  more: boolean; // the policy plans attempts beyond those listed
}

export function lifeOf(task: Task, now: number): Life {
  const moments: Moment[] = [{ kind: 'stored', at: Date.parse(task.created_at), future: false }];
  const add = (kind: MomentKind, time: string | undefined, attempt?: number) => {
    if (time)
      moments.push({ kind, at: Date.parse(time), ...(attempt !== undefined && { attempt }), future: Date.parse(time) > now });
  };
  moments.push(...attempts(task));
  if (task.state === 'finished') {
    add('ended', task.finished_at);
    return { moments, more: false };
  }
  if (task.state === 'running') moments.push({ kind: 'running', at: now, attempt: task.attempts, future: false });
  const ahead = planned(task, now);
  moments.push(...ahead.moments);
  return { moments, more: ahead.more };
}

// The attempts that are kept, oldest first; without them, or before them, what the task says of its first and last failure.
function attempts(task: Task): Moment[] {
  const kept = (task.last_attempts ?? []).toReversed().map<Moment>((attempt) => ({
    kind: attempt.end,
    at: Date.parse(attempt.ended_at),
    attempt: attempt.number,
    future: false,
    kept: attempt,
  }));
  // An attempt that is running now is counted already.
  const made = task.state === 'running' ? task.attempts - 1 : task.attempts;
  if (kept.length === 0 && task.last_failed_at) {
    kept.push({ kind: 'failed', at: Date.parse(task.last_failed_at), attempt: Math.max(1, made), future: false });
  }
  const [oldest] = kept;
  if (!oldest || !task.first_failed_at || Date.parse(task.first_failed_at) >= oldest.at || oldest.attempt === 1) return kept;
  const first: Moment = { kind: 'first_failed', at: Date.parse(task.first_failed_at), attempt: 1, future: false };
  return [{ ...first, missing: Math.max(0, oldest.attempt! - 2) }, ...kept];
}

function planned(task: Task, now: number): Life {
  if (task.stage !== 'run') return { moments: [], more: false };
  const due = task.state === 'running' || !task.next_at ? now : Date.parse(task.next_at);
  const start = Math.max(now, due); // a task that is late starts now at the earliest
  const { times, more } = plan(
    {
      backoff: task.policy.backoff,
      attempts: task.state === 'running' ? task.attempts - 1 : task.attempts,
      next: start,
      created: Date.parse(task.created_at),
      maxAttempts: task.policy.max_attempts,
      maxDurationMs: task.policy.max_duration_ms,
      deadline: task.policy.deadline ? Date.parse(task.policy.deadline) : undefined,
    },
    MOST_PLANNED,
  );
  const first = task.state === 'running' ? task.attempts : task.attempts + 1;
  const moments = times.map<Moment>((time, i) => {
    const at = i === 0 ? due : time;
    return { kind: i === 0 ? 'next' : 'planned', at, attempt: first + i, future: at > now };
  });
  if (task.state === 'running') moments.shift(); // it is the one that runs
  if (!more && moments.length > 0) moments.push({ kind: 'limit', at: moments.at(-1)!.at, future: true });
  return { moments, more };
}

// Places moments between 0 and 1, with `now` between past and future: near ones get more room than far ones, because
// waits grow from seconds to hours.
export function place(at: number, from: number, now: number, until: number): number {
  const distance = (ms: number) => Math.log1p(Math.max(0, ms) / 1000);
  const left = distance(now - from);
  const right = distance(until - now);
  const whole = left + right || 1;
  return at <= now ? (left - distance(now - at)) / whole : (left + distance(at - now)) / whole;
}
