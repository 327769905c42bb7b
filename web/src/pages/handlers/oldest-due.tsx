// How long the oldest due task of a handler has waited. Without a value nothing is due, or the search ended before it was found.
import { useTranslation } from 'react-i18next';
import { useCluster } from '../../api/queries';
import { duration } from '../../lib/time';
import { Badge } from '../../ui/basics';

const LATE_MS = 30_000;

export function OldestDue({ handler }: { handler: string }) {
  const { t } = useTranslation();
  const cluster = useCluster().data;
  const ms = cluster?.late_handlers_ms?.[handler];
  if (ms !== undefined) return ms > LATE_MS ? <Badge tone="warn">{duration(ms)}</Badge> : duration(ms);
  return cluster?.late_handlers_complete === false ? <span title={t('handlers.notAllSearched')}>?</span> : '–';
}
