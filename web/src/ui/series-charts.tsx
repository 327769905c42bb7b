// The four charts of the overview and of a handler, from one answer of GET /v1/series.
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSeries, type Step } from '../api/queries';
import type { Series, SeriesName } from '../api/contract';
import { rate, short } from '../lib/numbers';
import { duration, toMs } from '../lib/time';
import { Segments } from './basics';
import { Card, Loaded, Skeleton } from './card';
import type { Line } from './chart';
import { Time } from './time';

const Chart = lazy(() => import('./chart'));

function perSecond(series: Series, name: SeriesName): (number | null)[] {
  return (series.series[name] ?? []).map((value) => (value == null ? null : (value * 1000) / series.step_ms));
}

interface Picture {
  title: string;
  format: (value: number) => string;
  lines: Line[];
  about?: string;
  steps?: number[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DURATIONS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((each) => each * MINUTE),
  ...[1, 2, 6, 12, 24, 48, 120, 240, 1200].map((each) => each * HOUR),
];

function usePictures(): (series: Series) => Picture[] {
  const { t } = useTranslation();
  return (data) => [
    {
      title: t('series.throughput'),
      format: (value) => `${rate(value)}/s`,
      lines: [
        { label: t('series.succeeded'), color: '--chart-ok', values: perSecond(data, 'succeeded'), fill: true },
        { label: t('series.stored'), color: '--chart-1', values: perSecond(data, 'stored') },
      ],
    },
    {
      title: t('series.failures'),
      about: t('series.hereAbout'),
      format: (value) => `${rate(value)}/s`,
      lines: [
        { label: t('series.failed_attempts'), color: '--chart-warn', values: perSecond(data, 'failed_attempts'), fill: true },
        { label: t('series.ended_badly'), color: '--chart-bad', values: perSecond(data, 'ended_badly') },
      ],
    },
    {
      title: t('series.lateness'),
      about: t('series.hereAbout'),
      format: duration,
      steps: DURATIONS,
      lines: [
        { label: 'p99', color: '--chart-2', values: data.series.late_p99_ms ?? [] },
        { label: 'p50', color: '--chart-1', values: data.series.late_p50_ms ?? [], fill: true },
      ],
    },
    {
      title: t('series.backlog'),
      format: short,
      lines: [{ label: t('series.backlog'), color: '--chart-1', values: data.series.backlog ?? [], fill: true }],
    },
  ];
}

export function SeriesCharts({ handler = '' }: { handler?: string }) {
  const { t } = useTranslation();
  const [step, setStep] = useState<Step>('10s');
  const query = useSeries(step, handler);
  const pictures = usePictures();
  const range = (
    <Segments
      label={t('series.range')}
      value={step}
      options={[
        { value: '10s', text: t('series.hour') },
        { value: '1m', text: t('series.day') },
      ]}
      onChange={setStep}
    />
  );
  const length = (data: Series) => Math.max(0, ...Object.values(data.series).map((values) => values.length));
  return (
    <section className="block" aria-label={t('series.title')}>
      <div className="block-head">
        <h2>{t('series.title')}</h2>
        {query.data && length(query.data) > 1 && (
          <span className="quiet-text">
            {t('series.since')} <Time at={toMs(query.data.from)} />
          </span>
        )}
        <div className="actions">{range}</div>
      </div>
      <Loaded query={query} lines={6}>
        {(data) =>
          length(data) < 2 ? (
            <Card>
              <p className="quiet-text">{t('series.soon')}</p>
            </Card>
          ) : (
            <div className="chart-grid">
              {pictures(data).map((picture) => (
                <Card key={picture.title} title={<span title={picture.about}>{picture.title}</span>}>
                  <Suspense fallback={<Skeleton lines={4} />}>
                    <Chart
                      label={picture.title}
                      from={toMs(data.from)}
                      stepMs={data.step_ms}
                      lines={picture.lines}
                      format={picture.format}
                      {...(picture.steps && { steps: picture.steps })}
                    />
                  </Suspense>
                </Card>
              ))}
            </div>
          )
        }
      </Loaded>
    </section>
  );
}
