// How much a handler needs attention: a sum of weights, higher is worse. Only the order matters.

export interface Troubled {
  served: boolean;
  live: number;
  paused?: unknown;
  ended: Record<string, number>;
}

export function badEnds(ended: Record<string, number>): number {
  return ['exhausted', 'rejected', 'quarantined', 'parked'].reduce((sum, outcome) => sum + (ended[outcome] ?? 0), 0);
}

export function allEnds(ended: Record<string, number>): number {
  return Object.values(ended).reduce((sum, count) => sum + count, 0);
}

export function troubleOf(handler: Troubled, lateMs: number): number {
  const ends = allEnds(handler.ended);
  const failing = ends > 0 ? badEnds(handler.ended) / ends : 0;
  return (
    (lateMs > 30_000 ? 4 + Math.log10(lateMs / 30_000) : 0) +
    (!handler.served && !handler.paused && handler.live > 0 ? 3 : 0) +
    (handler.paused && handler.live > 0 ? 2 : 0) +
    failing
  );
}
