// What the last ten minutes of a handler say: its pace, how much of it fails, when its backlog is worked off.
import type { Series } from '../../api/contract';
import { stepsOf, sumOf, type Values } from '../../lib/series';

const RECENT_MS = 600_000;

export interface Recent {
  perSecond: number; // tasks that ended
  ended: number;
  badly: number;
  etaMs: number | undefined; // undefined: the backlog does not shrink
}

// Undefined if nothing was measured yet.
export function recentOf({ step_ms, series }: Series, live: number): Recent | undefined {
  const steps = Math.max(1, Math.round(RECENT_MS / step_ms));
  const sum = (values: Values = []) => sumOf(values.slice(-steps));
  const covered = stepsOf(series.succeeded?.slice(-steps)) * step_ms;
  if (covered === 0) return undefined;
  const badly = sum(series.ended_badly);
  const ended = sum(series.succeeded) + badly;
  const shrinks = ended - sum(series.stored);
  return {
    perSecond: (ended * 1000) / covered,
    ended,
    badly,
    etaMs: live > 0 && shrinks > 0 ? (live / shrinks) * covered : undefined,
  };
}

export function etaMs(series: Series, live: number): number | undefined {
  return recentOf(series, live)?.etaMs;
}
