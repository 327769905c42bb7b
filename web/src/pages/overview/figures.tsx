// The numbers of this moment. Each says where it comes from on hover, and leads to its tasks.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCluster, useHandlers, useMetrics, useSeries } from '../../api/queries';
import type { Series, SeriesName } from '../../api/contract';
import { rate, short } from '../../lib/numbers';
import { sum } from '../../lib/metrics';
import { stepsOf, sumOf } from '../../lib/series';
import { duration } from '../../lib/time';
import { Sparkline } from '../../ui/meter';

interface FigureProps {
  name: string;
  value: ReactNode;
  about: string;
  to: string;
  tone?: string;
  values?: (number | null)[];
}

function Figure({ name, value, about, to, tone = 'accent', values }: FigureProps) {
  return (
    <Link href={to} className={`figure ${tone}`} title={about}>
      <span className="figure-name">{name}</span>
      <span className="figure-value">{value}</span>
      <span className="figure-line">{values && values.length > 1 && <Sparkline values={values} label={name} tone={tone} />}</span>
    </Link>
  );
}

const of = (series: Series | undefined, name: SeriesName) => series?.series[name] ?? [];

export function Figures() {
  const { t } = useTranslation();
  const handlers = useHandlers();
  const cluster = useCluster();
  const metrics = useMetrics();
  const hour = useSeries('10s').data;
  const day = useSeries('1m').data;

  const live = handlers.data?.reduce((sum, each) => sum + each.live, 0);
  const oldest = cluster.data?.late_handlers_ms && Math.max(0, ...Object.values(cluster.data.late_handlers_ms));
  const allSearched = cluster.data?.late_handlers_complete !== false;
  const running = metrics.data && sum(metrics.data, 'easyretry_running_tasks');
  const succeeded = of(hour, 'succeeded').slice(-6);
  const steps = stepsOf(succeeded);
  const succeededRate = hour && steps > 0 ? (sumOf(succeeded) * 1000) / (hour.step_ms * steps) : undefined;
  const failing = hour && sumOf(of(hour, 'failed_attempts'));
  const ended = day && sumOf(of(day, 'ended_badly'));
  const show = (value: number | undefined, format: (value: number) => string = short) =>
    value === undefined ? '–' : format(value);

  return (
    <section className="figures" aria-label={t('figures.title')}>
      <Figure name={t('figures.live')} about={t('figures.liveAbout')} to="/tasks" value={show(live)} values={of(hour, 'backlog')} />
      <Figure name={t('figures.running')} about={t('figures.runningAbout')} to="/tasks?state=running" value={show(running)} />
      <Figure
        name={t('figures.oldest')}
        about={t(allSearched ? 'figures.oldestAbout' : 'handlers.notAllSearched')}
        to="/handlers"
        value={oldest === 0 ? (allSearched ? t('figures.nothingLate') : '?') : show(oldest, (ms) => `${allSearched ? '' : '≥ '}${duration(ms)}`)}
        tone={oldest !== undefined && oldest > 30_000 ? 'warn' : 'accent'}
      />
      <Figure
        name={t('figures.rate')}
        about={t('figures.rateAbout')}
        to="/history?outcome=succeeded"
        value={show(succeededRate, (value) => `${rate(value)}/s`)}
        values={of(hour, 'succeeded')}
        tone="ok"
      />
      <Figure
        name={t('figures.failing')}
        about={t('figures.failingAbout')}
        to="/errors?of=tasks"
        value={show(failing)}
        values={of(hour, 'failed_attempts')}
        tone={failing ? 'warn' : 'accent'}
      />
      <Figure
        name={t('figures.ended')}
        about={t('figures.endedAbout')}
        to="/errors"
        value={show(ended)}
        values={of(day, 'ended_badly')}
        tone={ended ? 'bad' : 'accent'}
      />
    </section>
  );
}
