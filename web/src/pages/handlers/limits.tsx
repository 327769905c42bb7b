// The limits that this instance keeps with the others: what each allows, and what it holds back.
import { useTranslation } from 'react-i18next';
import type { Limit } from '../../api/contract';
import { useLimits } from '../../api/queries';
import { full, short } from '../../lib/numbers';
import { Badge, Given } from '../../ui/basics';
import { Card } from '../../ui/card';
import { Time } from '../../ui/time';
import { ResetLimitButton, SetLimitButton, type Subject } from './limit-actions';

// Most installations have none: then there is nothing to explain.
export function Limits() {
  const { t } = useTranslation();
  const limits = useLimits().data ?? [];
  if (limits.length === 0) return null;
  return (
    <Card title={t('limits.title')}>
      <p>{t('limits.lead')}</p>
      <div className="table-scroll">
        <table className="table rows" aria-label={t('limits.title')}>
          <thead>
            <tr>
              <th>{t('limits.of')}</th>
              <th>{t('limits.state')}</th>
              <th className="number">{t('limits.running')}</th>
              <th className="number">{t('limits.perSecond')}</th>
              <th className="number">{t('limits.burst')}</th>
              <th className="number">{t('limits.here')}</th>
              <th className="number">{t('limits.held')}</th>
              <th>
                <span className="unseen">{t('handlers.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map((limit) => (
              <Row key={limit.subject} limit={limit} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

// "handler payment.pay" and "circuit gateway"
export function subjectOf(limit: Pick<Limit, 'subject'>): Subject {
  const kind = limit.subject.startsWith('circuit ') ? 'circuit' : 'handler';
  return { kind, name: limit.subject.replace(/^(handler|circuit) /, '') };
}

function Row({ limit }: { limit: Limit }) {
  const { t, i18n } = useTranslation();
  const subject = subjectOf(limit);
  const { kind, name } = subject;
  const number = (value: number | undefined) => (value === undefined ? '–' : full(value, i18n.language));
  return (
    <tr data-row={limit.subject}>
      <td className="strong" data-label={t('limits.of')}>
        <div>
          <Given text={name} />
          <small>
            {t(`limits.kind.${kind}`)}
            {kind === 'circuit' && (
              <>
                {' · '}
                <Given text={limit.handlers.join(', ')} />
              </>
            )}
          </small>
        </div>
      </td>
      <td data-label={t('limits.state')}>
        <State limit={limit} />
      </td>
      <td className="number" data-label={t('limits.running')}>
        {number(limit.running)}
      </td>
      <td className="number" data-label={t('limits.perSecond')}>
        {number(limit.per_second)}
      </td>
      <td className="number" data-label={t('limits.burst')}>
        {number(limit.burst)}
      </td>
      <td className="number" data-label={t('limits.here')}>
        {limit.seats_here === undefined
          ? number(limit.running_here)
          : t('limits.ofSeats', { running: number(limit.running_here), seats: number(limit.seats_here) })}
      </td>
      <td className="number" data-label={t('limits.held')}>
        {limit.held_tasks > 0 ? short(limit.held_tasks) : '–'}
      </td>
      <td className="row-actions">
        {limit.order && <ResetLimitButton subject={subject} />}
        <SetLimitButton subject={subject} />
      </td>
    </tr>
  );
}

function State({ limit }: { limit: Limit }) {
  const { t } = useTranslation();
  return (
    <div>
      {limit.holds_since ? (
        <>
          <Badge tone={limit.running === 0 ? 'warn' : 'info'}>{t(limit.running === 0 ? 'limits.nothing' : 'limits.holds')}</Badge>{' '}
          <Time at={limit.holds_since} />
        </>
      ) : (
        <Badge tone="ok">{t('limits.free')}</Badge>
      )}
      {limit.order && (
        <small>
          {t('limits.setSince')} <Time at={limit.order.since} /> <Given text={limit.order.why} />
        </small>
      )}
    </div>
  );
}
