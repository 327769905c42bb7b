// Failures grouped by cause: numbers, ids and quoted texts taken out of the messages.
import { PartyPopper } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useSearch } from 'wouter';
import { useErrors, useHandlers } from '../../api/queries';
import type { ErrorGroups } from '../../api/contract';
import type { Filters, ListKind } from '../../lib/filters';
import { navigate } from '../../lib/location';
import { full } from '../../lib/numbers';
import { now } from '../../lib/time';
import { Empty, PageHead, Segments } from '../../ui/basics';
import { Loaded } from '../../ui/card';
import { ErrorCard } from './error-card';

const RANGES = ['1h', '24h', '7d', 'all'] as const;
type Range = (typeof RANGES)[number];
const HOURS: Record<Range, number> = { '1h': 1, '24h': 24, '7d': 168, all: 0 };

// Rounded to a minute, so that the request stays the same while one looks.
function startOf(range: Range): string {
  const hours = HOURS[range];
  return hours ? new Date(Math.floor(now() / 60_000) * 60_000 - hours * 3_600_000).toISOString() : '';
}

export default function ErrorsPage() {
  const { t } = useTranslation();
  const search = new URLSearchParams(useSearch());
  const of: ListKind = search.get('of') === 'tasks' ? 'tasks' : 'history';
  const handler = search.get('handler') ?? '';
  const given = search.get('within') as Range;
  const range: Range = RANGES.includes(given) ? given : 'all';
  const open = search.get('open') ?? '';
  // Live tasks have no filter by the time of their failure: an action on a kind would also change older ones.
  const ranged = of === 'history';
  const from = ranged ? startOf(range) : '';
  const errors = useErrors(of, handler, from);
  const handlers = useHandlers().data ?? [];

  const go = (change: Record<string, string>) => {
    const next = new URLSearchParams({ of, handler, within: range, ...change });
    for (const [name, value] of [...next]) if (!value) next.delete(name);
    navigate(`/errors?${next}`);
  };
  return (
    <>
      <PageHead title={t('errors.title')} lead={t('errors.lead')} />
      <div className="filter-bar">
        <Segments
          label={t('errors.which')}
          value={of}
          options={[
            { value: 'history', text: t('errors.ended') },
            { value: 'tasks', text: t('errors.retrying') },
          ]}
          onChange={(value) => go({ of: value, within: '' })}
        />
        {ranged && (
          <Segments
            label={t('series.range')}
            value={range}
            options={RANGES.map((value) => ({ value, text: t(`errors.range.${value}`) }))}
            onChange={(value) => go({ within: value })}
          />
        )}
        <select aria-label={t('filter.handler')} value={handler} onChange={(event) => go({ handler: event.target.value })}>
          <option value="">{t('filter.anyHandler')}</option>
          {handlers.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
      </div>
      <Loaded query={errors} lines={8}>
        {(answer) => (
          <Groups
            answer={answer}
            of={of}
            open={open}
            range={{ ...(handler && { handler }), ...(from && { finished_from: from }) }}
          />
        )}
      </Loaded>
    </>
  );
}

const MOST_KINDS = 100; // that one answer has

function Groups({ answer, of, open, range }: { answer: ErrorGroups; of: ListKind; open: string; range: Filters }) {
  const { t, i18n } = useTranslation();
  const most = Math.max(1, ...answer.groups.map((group) => group.count));
  if (answer.groups.length === 0) {
    return (
      <Empty icon={PartyPopper} title={t('errors.none')}>
        <p>{t('errors.noneText')}</p>
      </Empty>
    );
  }
  return (
    <>
      <p className="quiet-text window">
        {t(answer.complete ? 'errors.scannedAll' : 'errors.scanned', { number: full(answer.scanned, i18n.language) })}
        {answer.groups.length >= MOST_KINDS && ` ${t('errors.cut', { most: MOST_KINDS })}`}
      </p>
      <div className="error-groups">
        {answer.groups.map((group) => (
          <ErrorCard key={group.fingerprint} group={group} of={of} range={range} most={most} open={group.fingerprint === open} />
        ))}
      </div>
    </>
  );
}
