// The life of a task on one line: past on the left of "now", planned attempts on its right.
import { useTranslation } from 'react-i18next';
import type { Task } from '../../api/contract';
import { lifeOf, place } from '../../lib/moments';
import { duration } from '../../lib/time';
import { useNow } from '../../ui/time';

export function Scale({ task }: { task: Task }) {
  const { t } = useTranslation();
  const now = useNow();
  const { moments } = lifeOf(task, now);
  const ended = moments.find((moment) => moment.kind === 'ended');
  const pivot = ended?.at ?? now;
  const from = moments[0]!.at;
  const until = Math.max(pivot, ...moments.map((moment) => moment.at));
  const x = (at: number) => `${(2 + 96 * place(at, from, pivot, until)).toFixed(2)}%`;
  return (
    <div
      className="scale"
      role="img"
      aria-label={t('task.scale', { past: duration(pivot - from), ahead: duration(until - pivot) })}
    >
      <div className="scale-line" />
      <div className="scale-past" style={{ width: x(pivot) }} />
      {!ended && (
        <div className={`scale-now ${place(now, from, pivot, until) > 0.8 ? 'left' : ''}`} style={{ left: x(now) }}>
          <span>{t('task.now')}</span>
        </div>
      )}
      {moments
        .filter((moment) => moment.kind !== 'limit' && moment.kind !== 'running')
        .map((moment, i) => (
          <span
            key={i}
            className={`scale-dot ${moment.kind} ${moment.kind === 'ended' ? (task.outcome ?? '') : ''}`}
            style={{ left: x(moment.at) }}
            title={moment.attempt ? t(`moment.${moment.kind}`, { attempt: moment.attempt }) : t(`moment.${moment.kind}`)}
          />
        ))}
    </div>
  );
}
