// Every handler: who serves it, what waits, how it ends, how long it takes.
import { Boxes } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useCluster, useHandlers, useMetrics } from '../../api/queries';
import type { Handler } from '../../api/contract';
import { quantile, type Sample } from '../../lib/metrics';
import { full, percent, rate, short } from '../../lib/numbers';
import { duration } from '../../lib/time';
import { allEnds, troubleOf } from '../../lib/trouble';
import { Empty, Given, PageHead, TextLink } from '../../ui/basics';
import { Loaded } from '../../ui/card';
import { ShareBar } from '../../ui/meter';
import { OUTCOME_TONES } from '../../ui/task-badge';
import { Circuits } from './circuits';
import { Limits } from './limits';
import { SetLimitButton } from './limit-actions';
import { HandlerBadge } from './handler-badge';
import { OldestDue } from './oldest-due';
import { PauseButton } from './pause-button';
import { recentOf } from './recent';

const COLUMNS = ['name', 'status', 'live', 'oldest', 'rate', 'failing', 'eta', 'ended', 'p50', 'p99'];
const NUMBERS = new Set(['live', 'oldest', 'rate', 'failing', 'eta', 'p50', 'p99']);
const RECENT = ['rate', 'failing', 'eta'];

export default function HandlersPage() {
  const { t } = useTranslation();
  const handlers = useHandlers();
  const late = useCluster().data?.late_handlers_ms ?? {};
  const metrics = useMetrics().data ?? [];
  return (
    <>
      <PageHead title={t('handlers.title')} lead={t('handlers.lead')} />
      <Loaded query={handlers} lines={8}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={Boxes} title={t('handlers.none')}>
              <p>{t('handlers.noneText')}</p>
            </Empty>
          ) : (
            <>
              <div className="table-scroll">
                <table className="table rows" aria-label={t('handlers.title')}>
                  <thead>
                    <tr>
                      {COLUMNS.map((name) => (
                        <th
                          key={name}
                          className={NUMBERS.has(name) ? 'number' : ''}
                          title={RECENT.includes(name) ? t('handlers.recent') : undefined}
                        >
                          {t(`handlers.${name}`)}
                        </th>
                      ))}
                      <th>
                        <span className="unseen">{t('handlers.actions')}</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {[...all]
                      .sort((a, b) => troubleOf(b, late[b.name] ?? 0) - troubleOf(a, late[a.name] ?? 0) || b.live - a.live)
                      .map((handler) => (
                        <Row key={handler.name} handler={handler} metrics={metrics} />
                      ))}
                  </tbody>
                </table>
              </div>
              <p className="quiet-text">{t('handlers.recent')}</p>
            </>
          )
        }
      </Loaded>
      <Circuits />
      <Limits />
    </>
  );
}

export function runTime(metrics: Sample[], handler: string, q: number): string {
  const seconds = quantile(metrics, 'easyretry_run_seconds', { handler }, q);
  return seconds === undefined ? '–' : duration(seconds * 1000);
}

interface RowProps {
  handler: Handler;
  metrics: Sample[];
}

function Row({ handler, metrics }: RowProps) {
  const { t } = useTranslation();
  const recent = recentOf(handler);
  const url = `/handler?name=${encodeURIComponent(handler.name)}`;
  return (
    <tr data-row={handler.name}>
      <td className="strong" data-label={t('handlers.name')}>
        <div>
          <TextLink to={url}>
            <Given text={handler.name} />
          </TextLink>
          {handler.did_you_mean && <small className="warn-text">{t('handlers.didYouMean', { name: handler.did_you_mean })}</small>}
        </div>
      </td>
      <td data-label={t('handlers.status')}>
        <HandlerBadge handler={handler} />
      </td>
      <td className="number" data-label={t('handlers.live')}>
        {short(handler.live)}
      </td>
      <td className="number" data-label={t('handlers.oldest')}>
        <OldestDue handler={handler.name} />
      </td>
      <td className="number" data-label={t('handlers.rate')}>
        {recent ? `${rate(recent.perSecond)}/s` : '–'}
      </td>
      <td className="number" data-label={t('handlers.failing')}>
        {recent ? percent(recent.badly, recent.ended) : '–'}
      </td>
      <td className="number" data-label={t('handlers.eta')}>
        {recent?.etaMs === undefined ? '–' : duration(recent.etaMs)}
      </td>
      <td data-label={t('handlers.ended')}>
        <Ends ended={handler.ended} />
      </td>
      <td className="number" data-label={t('handlers.p50')}>
        {runTime(metrics, handler.name, 0.5)}
      </td>
      <td className="number" data-label={t('handlers.p99')}>
        {runTime(metrics, handler.name, 0.99)}
      </td>
      <td className="row-actions">
        <SetLimitButton subject={{ kind: 'handler', name: handler.name }} />
        <PauseButton handler={handler} />
      </td>
    </tr>
  );
}

export function Ends({ ended }: { ended: Record<string, number> }) {
  const { t, i18n } = useTranslation();
  const shares = Object.entries(ended)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => ({ name, value, tone: OUTCOME_TONES[name] ?? 'quiet' }));
  if (shares.length === 0) return '–';
  const label = shares.map(({ name, value }) => `${t(`outcome.${name}`)} ${full(value, i18n.language)}`).join(', ');
  return (
    <span className="ends">
      <ShareBar shares={shares} label={label} />
      <span>{short(allEnds(ended))}</span>
    </span>
  );
}
