// One handler: its state, its charts, its ways of ending, its errors.
import { ArrowLeft, PauseCircle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useSearch } from 'wouter';
import { useHandlers, useMetrics } from '../../api/queries';
import type { Handler } from '../../api/contract';
import { listUrl } from '../../lib/filters';
import { full } from '../../lib/numbers';
import { duration } from '../../lib/time';
import { Given, PageHead, TextLink } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { SeriesCharts } from '../../ui/series-charts';
import { Time } from '../../ui/time';
import { Ends, runTime } from './handlers-page';
import { HandlerBadge } from './handler-badge';
import { OldestDue } from './oldest-due';
import { recentOf } from './recent';
import { PauseButton } from './pause-button';

export default function HandlerPage() {
  const { t } = useTranslation();
  const name = new URLSearchParams(useSearch()).get('name') ?? '';
  const handlers = useHandlers();
  return (
    <>
      <nav className="crumbs" aria-label={t('task.back')}>
        <TextLink to="/handlers">
          <ArrowLeft className="icon small" aria-hidden />
          {t('handlers.title')}
        </TextLink>
      </nav>
      <Loaded query={handlers}>
        {(all) => {
          const handler = all.find((each) => each.name === name);
          return handler ? <View handler={handler} /> : <p>{t('handlers.unknown', { name })}</p>;
        }}
      </Loaded>
    </>
  );
}

function View({ handler }: { handler: Handler }) {
  const { t, i18n } = useTranslation();
  const eta = recentOf(handler)?.etaMs;
  const metrics = useMetrics().data ?? [];
  return (
    <>
      <PageHead
        title={
          <span className="title-line">
            <Given text={handler.name} /> <HandlerBadge handler={handler} />
          </span>
        }
      >
        <TextLink to={listUrl('tasks', { handler: handler.name })}>{t('list.tasks')}</TextLink>
        <TextLink to={listUrl('history', { handler: handler.name })}>{t('list.history')}</TextLink>
        <TextLink to={`/errors?handler=${encodeURIComponent(handler.name)}`}>{t('errors.title')}</TextLink>
        <PauseButton handler={handler} />
      </PageHead>
      {handler.paused && (
        <section className="waiting paused">
          <PauseCircle className="icon" aria-hidden />
          <p>
            {t('handlers.pausedSince')} <Time at={handler.paused.since} />
            {handler.paused.why && (
              <>
                : <Given text={handler.paused.why} />
              </>
            )}
          </p>
        </section>
      )}
      {!handler.served && handler.live > 0 && !handler.paused && (
        <section className="waiting no_handler">
          <p>
            {t('handlers.unservedText')} {handler.did_you_mean && t('handlers.didYouMean', { name: handler.did_you_mean })}
          </p>
        </section>
      )}
      <Card>
        <dl className="facts across">
          <div>
            <dt>{t('handlers.live')}</dt>
            <dd>{full(handler.live, i18n.language)}</dd>
          </div>
          <div>
            <dt>{t('handlers.oldest')}</dt>
            <dd>
              <OldestDue handler={handler.name} />
            </dd>
          </div>
          <div>
            <dt>{t('handlers.eta')}</dt>
            <dd>{eta === undefined ? '–' : duration(eta)}</dd>
          </div>
          <div>
            <dt>{t('handlers.ended')}</dt>
            <dd>
              <Ends ended={handler.ended} />
            </dd>
          </div>
          <div>
            <dt>{t('handlers.p50')}</dt>
            <dd>{runTime(metrics, handler.name, 0.5)}</dd>
          </div>
          <div>
            <dt>{t('handlers.p99')}</dt>
            <dd>{runTime(metrics, handler.name, 0.99)}</dd>
          </div>
          <div>
            <dt>{t('handlers.workers')}</dt>
            <dd>
              {handler.instances.length > 0 && <Given text={handler.instances.join(', ')} className="mono" />}{' '}
              {handler.waiting_workers > 0 && t('handlers.waitingWorkers', { count: handler.waiting_workers })}
              {handler.instances.length === 0 && handler.waiting_workers === 0 && '–'}
            </dd>
          </div>
          <div>
            <dt>{t('handlers.lastAsked')}</dt>
            <dd>{handler.last_asked_at ? <Time at={handler.last_asked_at} /> : '–'}</dd>
          </div>
        </dl>
      </Card>
      <SeriesCharts handler={handler.name} />
    </>
  );
}
