// Shards as a heat map: how long the oldest due task of each has waited.
import { useTranslation } from 'react-i18next';
import { duration } from '../../lib/time';

const FIRST_SHARDS = 64;

// The number of shards is not told; it starts at 64 and grows by doubling.
export function shardCount(late: Record<string, number>): number {
  let count = FIRST_SHARDS;
  const highest = Math.max(-1, ...Object.keys(late).map(Number));
  while (count <= highest) count *= 2;
  return count;
}

// 0: nothing late; 1 to 4: below a second, 30 s, 5 min, above.
export function heat(ms: number | undefined): number {
  if (ms === undefined) return 0;
  return [1_000, 30_000, 300_000].findIndex((bound) => ms < bound) + 1 || 4;
}

export function Shards({ late }: { late: Record<string, number> }) {
  const { t } = useTranslation();
  const count = shardCount(late);
  const worst = Math.max(0, ...Object.values(late));
  return (
    <>
      <div
        className="shards"
        role="img"
        aria-label={t('instances.shardsLabel', { count: Object.keys(late).length, of: count, worst: duration(worst) })}
      >
        {Array.from({ length: count }, (_, shard) => (
          <span
            key={shard}
            className={`heat-${heat(late[shard])}`}
            title={`${t('instances.shard', { shard })}: ${late[shard] === undefined ? t('figures.nothingLate') : duration(late[shard])}`}
          >
            {shard}
          </span>
        ))}
      </div>
      <ul className="heat-legend">
        {['heat0', 'heat1', 'heat2', 'heat3', 'heat4'].map((name, i) => (
          <li key={name}>
            <span className={`heat-${i}`} aria-hidden /> {t(`instances.${name}`)}
          </li>
        ))}
      </ul>
    </>
  );
}
