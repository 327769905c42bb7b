// The circuits of this instance: which hold tasks back, since when, and who says so.
import { useTranslation } from 'react-i18next';
import type { Circuit } from '../../api/contract';
import { useCircuits } from '../../api/queries';
import { full, percent, short } from '../../lib/numbers';
import { Badge, Given } from '../../ui/basics';
import { Card } from '../../ui/card';
import { Time } from '../../ui/time';
import { CircuitActions } from './circuit-actions';

// Most installations have none: then there is nothing to explain.
export function Circuits() {
  const { t } = useTranslation();
  const circuits = useCircuits().data ?? [];
  if (circuits.length === 0) return null;
  return (
    <Card title={t('circuits.title')}>
      <p>{t('circuits.lead')}</p>
      <div className="table-scroll">
        <table className="table rows" aria-label={t('circuits.title')}>
          <thead>
            <tr>
              <th>{t('circuits.name')}</th>
              <th>{t('circuits.state')}</th>
              <th className="number">{t('circuits.answered')}</th>
              <th className="number">{t('circuits.failed')}</th>
              <th className="number">{t('circuits.held')}</th>
              <th className="number">{t('circuits.starts')}</th>
              <th>
                <span className="unseen">{t('handlers.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {circuits.map((circuit) => (
              <Row key={circuit.name} circuit={circuit} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Row({ circuit }: { circuit: Circuit }) {
  const { t, i18n } = useTranslation();
  return (
    <tr data-row={circuit.name}>
      <td className="strong" data-label={t('circuits.name')}>
        <div>
          <Given text={circuit.name} />
          <small>{circuit.handlers.length > 0 ? <Given text={circuit.handlers.join(', ')} /> : t('circuits.unknown')}</small>
        </div>
      </td>
      <td data-label={t('circuits.state')}>
        <State circuit={circuit} />
        <Budget circuit={circuit} />
      </td>
      <td className="number" data-label={t('circuits.answered')}>
        {full(circuit.answered, i18n.language)}
      </td>
      <td className="number" data-label={t('circuits.failed')}>
        {full(circuit.failed, i18n.language)}
      </td>
      <td className="number" data-label={t('circuits.held')}>
        {heldOf(circuit)}
      </td>
      <td className="number" data-label={t('circuits.starts')}>
        {startsOf(circuit)}
      </td>
      <td className="row-actions">
        <CircuitActions circuit={circuit} />
      </td>
    </tr>
  );
}

// An open circuit holds retries back like other tasks.
export function heldOf(circuit: Pick<Circuit, 'state' | 'held' | 'held_retries' | 'retries_held_since'>): string {
  if (circuit.state === 'open') return short(circuit.held);
  return circuit.retries_held_since ? short(circuit.held_retries ?? 0) : '–';
}

// Two digits: a third of a probe a second is 0.33/s.
export function startsOf(circuit: Pick<Circuit, 'state' | 'starts_per_second' | 'order'>): string {
  if (circuit.state !== 'open') return '–';
  const starts = circuit.order ? 0 : (circuit.starts_per_second ?? 0);
  return `${Number(starts.toPrecision(2))}/s`;
}

function Budget({ circuit }: { circuit: Circuit }) {
  const { t } = useTranslation();
  if (circuit.retries_at_most === undefined) return null;
  return (
    <small>
      {t('circuits.retriesAtMost', { share: percent(circuit.retries_at_most, 1) })}
      {circuit.retries_held_since && (
        <>
          {' '}
          {t('circuits.retriesHeldSince')} <Time at={circuit.retries_held_since} />
        </>
      )}
    </small>
  );
}

function State({ circuit }: { circuit: Circuit }) {
  const { t } = useTranslation();
  const { order } = circuit;
  if (!order) {
    if (circuit.state === 'closed') return <Badge tone="ok">{t('circuits.closed')}</Badge>;
    return (
      <>
        <Badge tone="bad">{t('circuits.open')}</Badge> {circuit.since && <Time at={circuit.since} />}
      </>
    );
  }
  return (
    <div>
      <Badge tone="warn">{t(order.state === 'open' ? 'circuits.heldOpen' : 'circuits.ignored')}</Badge> <Time at={order.since} />
      <small>
        {order.until ? (
          <>
            {t('circuits.until')} <Time at={order.until} />
          </>
        ) : (
          t('circuits.untilReset')
        )}
        {order.why && (
          <>
            {' '}
            <q>
              <Given text={order.why} />
            </q>
          </>
        )}
      </small>
    </div>
  );
}
