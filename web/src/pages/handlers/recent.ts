// What the last ten minutes of a handler say: its pace, how much of it fails, when its backlog is worked off.
import type { Handler } from '../../api/contract';

export interface Recent {
  perSecond: number; // tasks that ended
  ended: number;
  badly: number;
  etaMs: number | undefined; // undefined: the backlog does not shrink
}

// Undefined if nothing was measured: the daemon has just started, or counts this handler only in the sum of all.
export function recentOf({ recent, live }: Pick<Handler, 'recent' | 'live'>): Recent | undefined {
  if (!recent) return undefined;
  const ended = recent.succeeded + recent.ended_badly;
  const shrinks = ended - recent.stored;
  return {
    perSecond: (ended * 1000) / recent.measured_ms,
    ended,
    badly: recent.ended_badly,
    etaMs: live > 0 && shrinks > 0 ? (live / shrinks) * recent.measured_ms : undefined,
  };
}
