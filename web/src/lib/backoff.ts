// The waits of a policy, from the text that tasks show: "exponential first=1s factor=2 cap=15m jitter=1s". They follow
// src/policy/decide.cpp; jitter is left out or taken at its middle, so they are what to expect, not a promise.

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

// "1h30m", "15m", "250ms"; NaN for anything else.
export function parseDuration(text: string): number {
  let rest = text.trim();
  if (rest === '0') return 0;
  let sum = rest ? 0 : NaN;
  while (rest) {
    const part = /^(\d+(?:\.\d+)?)(ms|min|s|m|h|d)/.exec(rest);
    if (!part) return NaN;
    sum += Number(part[1]) * UNITS[part[2]!]!;
    rest = rest.slice(part[0].length);
  }
  return sum;
}

interface Shape {
  name: string;
  fields: Record<string, string>;
}

function parseShape(text: string): Shape {
  const [name = '', ...words] = text.trim().split(/\s+/);
  return { name, fields: Object.fromEntries(words.map((word) => [word.split('=')[0], word.split('=')[1] ?? ''])) };
}

function classic(attempt: number): number {
  let delay = 0;
  for (let n = 1; n <= attempt && delay < 900_000; n++) delay = Math.min(n * (delay + 5_000), 900_000);
  return delay;
}

function baseDelay({ name, fields }: Shape, attempt: number): number {
  const ms = (field: string) => parseDuration(fields[field] ?? '');
  switch (name) {
    case 'exponential':
      return Math.min(ms('first') * Number(fields.factor) ** attempt, ms('cap'));
    case 'linear':
      return Math.min(ms('first') + (attempt - 1) * ms('step'), ms('cap'));
    case 'fixed':
      return ms('delay');
    case 'ladder': {
      const steps = (fields.steps ?? '').split(',').map(parseDuration);
      return steps[Math.min(attempt, steps.length) - 1] ?? NaN;
    }
    case 'classic':
      return classic(attempt);
    default:
      return NaN;
  }
}

// The expected wait after `attempt` has failed (1 is the first), in ms; NaN if the text is not understood.
export function expectedDelay(backoff: string, attempt: number): number {
  const shape = parseShape(backoff);
  const delay = baseDelay(shape, attempt);
  const jitter = shape.fields.jitter ?? 'none';
  if (jitter === 'none') return delay;
  if (jitter === 'full' || jitter === 'decorrelated') return delay / 2;
  return delay + (parseDuration(jitter) || 0) / 2;
}

export interface Plan {
  times: number[]; // the next attempts, the first at `next`
  more: boolean; // there are further ones
}

export interface PlanInput {
  backoff?: string | undefined;
  attempts: number; // made so far
  next: number;
  created: number;
  maxAttempts: number; // 0: no limit
  maxDurationMs: number; // 0: no limit
  deadline?: number | undefined;
}

// The attempts ahead if each fails at once: at most `most` of them.
export function plan(input: PlanInput, most = 12): Plan {
  const times: number[] = [];
  let at = input.next;
  for (let attempt = input.attempts + 1; ; attempt++) {
    if (input.maxAttempts > 0 && attempt > input.maxAttempts) return { times, more: false };
    if (input.maxDurationMs > 0 && at > input.created + input.maxDurationMs) return { times, more: false };
    if (input.deadline !== undefined && at > input.deadline) return { times, more: false };
    if (times.length === most) return { times, more: true };
    times.push(at);
    const delay = expectedDelay(input.backoff ?? '', attempt);
    if (Number.isNaN(delay)) return { times, more: true };
    at += delay;
  }
}
