// What holds a task back: which circuit or limit, what it lets through, since when, and how many tasks it holds.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Circuit, Limit } from '../../api/contract';
import { useCircuits, useLimits } from '../../api/queries';
import { full, percent, rate } from '../../lib/numbers';
import { Given } from '../../ui/basics';
import { Time } from '../../ui/time';
import { subjectOf } from '../handlers/limits';

export function HeldBy({ kind, handler }: { kind: 'circuit' | 'retry_budget' | 'limit'; handler: string }) {
  const circuits = useCircuits().data?.filter((each) => each.handlers.includes(handler));
  const circuit = circuits?.find((each) => each.state === 'open');
  const budget = circuits?.find((each) => each.retries_held_since);
  const limit = useLimits().data?.find((each) => each.holds_since && each.handlers.includes(handler));
  if (kind === 'circuit') return circuit ? <ByCircuit circuit={circuit} /> : null;
  if (kind === 'retry_budget') return budget ? <ByBudget circuit={budget} /> : null;
  return limit ? <ByLimit limit={limit} /> : null;
}

function Line({ parts }: { parts: (ReactNode | false | undefined)[] }) {
  return (
    <p className="held-by">
      {parts.filter(Boolean).map((part, i) => (
        <span key={i}>
          {i > 0 && ' · '}
          {part}
        </span>
      ))}
    </p>
  );
}

function ByCircuit({ circuit }: { circuit: Circuit }) {
  const { t } = useTranslation();
  const { order } = circuit;
  const since = order?.since ?? circuit.since;
  return (
    <Line
      parts={[
        <>
          {t('task.held.circuit')} <Given text={circuit.name} className="strong" />
        </>,
        since && (
          <>
            {t(order ? 'task.held.byHand' : 'task.held.openSince')} <Time at={since} />
          </>
        ),
        order ? t('task.held.startsNothing') : t('task.held.starts', { rate: `${rate(circuit.starts_per_second ?? 0)}/s` }),
        order &&
          (order.until ? (
            <>
              {t('task.held.until')} <Time at={order.until} />
            </>
          ) : (
            t('task.held.untilReset')
          )),
        circuit.held > 0 && t('task.held.tasks', { count: circuit.held }),
      ]}
    />
  );
}

function ByBudget({ circuit }: { circuit: Circuit }) {
  const { t } = useTranslation();
  return (
    <Line
      parts={[
        <>
          {t('task.held.circuit')} <Given text={circuit.name} className="strong" />
        </>,
        t('circuits.retriesAtMost', { share: percent(circuit.retries_at_most ?? 0, 1) }),
        circuit.retries_held_since && (
          <>
            {t('circuits.retriesHeldSince')} <Time at={circuit.retries_held_since} />
          </>
        ),
        (circuit.held_retries ?? 0) > 0 && t('task.held.tasks', { count: circuit.held_retries }),
      ]}
    />
  );
}

function ByLimit({ limit }: { limit: Limit }) {
  const { t, i18n } = useTranslation();
  const { kind, name } = subjectOf(limit);
  const allowed = [
    limit.running !== undefined && t('task.held.atATime', { count: limit.running }),
    limit.per_second !== undefined && `${full(limit.per_second, i18n.language)}/s`,
  ].filter(Boolean);
  return (
    <Line
      parts={[
        <>
          {t(`task.held.limit.${kind}`)} <Given text={name} className="strong" />
        </>,
        allowed.length > 0 && t('task.held.everywhere', { allowed: allowed.join(', ') }),
        limit.holds_since && (
          <>
            {t('task.held.holdsSince')} <Time at={limit.holds_since} />
          </>
        ),
        limit.held_tasks > 0 && t('task.held.tasks', { count: limit.held_tasks }),
      ]}
    />
  );
}
