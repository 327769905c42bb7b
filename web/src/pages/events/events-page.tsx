// Events as they happen, newest first. The list holds still while paused; what came meanwhile is counted.
import { Pause, Play, Radio, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearch } from 'wouter';
import { useHandlers } from '../../api/queries';
import { navigate } from '../../lib/location';
import { usePrefs, zoneName } from '../../lib/prefs';
import { clockTime } from '../../lib/time';
import { Badge, Button, Empty, Given, PageHead, TextLink, type Tone } from '../../ui/basics';
import { useEventTail, type Seen } from './use-event-tail';

const KINDS = [
  'stored',
  'claimed',
  'attempt_failed',
  'retry_scheduled',
  'succeeded',
  'gave_up',
  'cancelled',
  'quarantined',
  'parked',
  'handed_back',
  'lease_lost',
  'callback_failed',
];
const TONES: Record<string, Tone> = {
  succeeded: 'ok',
  attempt_failed: 'warn',
  retry_scheduled: 'warn',
  callback_failed: 'warn',
  lease_lost: 'warn',
  gap: 'warn',
  gave_up: 'bad',
  quarantined: 'bad',
  parked: 'bad',
  claimed: 'info',
};

export default function EventsPage() {
  const { t } = useTranslation();
  const search = new URLSearchParams(useSearch());
  const kinds = (search.get('kind') ?? '').split(',').filter((kind) => KINDS.includes(kind));
  const handler = search.get('handler') ?? '';
  const [paused, setPaused] = useState(false);
  const handlers = useHandlers().data ?? [];
  const query = new URLSearchParams({ ...(kinds.length && { kind: kinds.join(',') }), ...(handler && { handler }) }).toString();
  const tail = useEventTail(query, paused);

  const go = (change: { kind?: string[]; handler?: string }) => {
    const next = new URLSearchParams();
    const kind = change.kind ?? kinds;
    if (kind.length) next.set('kind', kind.join(','));
    if (change.handler ?? handler) next.set('handler', change.handler ?? handler);
    navigate(`/events?${next}`);
  };
  return (
    <>
      <PageHead title={t('events.title')} lead={t('events.lead')}>
        <Badge tone={tail.state === 'open' ? 'ok' : tail.state === 'paused' ? 'quiet' : 'warn'}>
          {t(`events.state.${tail.state}`)}
        </Badge>
        <Button icon={paused ? Play : Pause} onClick={() => setPaused(!paused)}>
          {paused ? t('events.goOn', { count: tail.held }) : t('events.pause')}
        </Button>
        <Button icon={Trash2} onClick={tail.clear} aria-label={t('events.clear')} title={t('events.clear')} />
      </PageHead>
      <div className="filter-bar">
        <select aria-label={t('filter.handler')} value={handler} onChange={(event) => go({ handler: event.target.value })}>
          <option value="">{t('filter.anyHandler')}</option>
          {handlers.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
        <div className="kind-chips" role="group" aria-label={t('events.kinds')}>
          {KINDS.map((kind) => (
            <button
              type="button"
              key={kind}
              aria-pressed={kinds.includes(kind)}
              onClick={() => go({ kind: kinds.includes(kind) ? kinds.filter((each) => each !== kind) : [...kinds, kind] })}
            >
              {t(`event.${kind}`)}
            </button>
          ))}
        </div>
      </div>
      {tail.events.length === 0 ? (
        <Empty icon={Radio} title={t('events.none')}>
          <p>{t('events.noneText')}</p>
        </Empty>
      ) : (
        <ol className="events" aria-label={t('events.title')}>
          {tail.events.map((seen) => (
            <EventLine key={seen.number} seen={seen} />
          ))}
        </ol>
      )}
    </>
  );
}

function EventLine({ seen }: { seen: Seen }) {
  const { t } = useTranslation();
  const zone = zoneName(usePrefs().zone);
  const { event } = seen;
  const known = KINDS.includes(event.kind) || event.kind === 'gap';
  return (
    <li data-row={seen.number}>
      <time className="mono" dateTime={event.at} title={event.at}>
        {clockTime(event.at, zone, true)}
      </time>
      <Badge tone={TONES[event.kind] ?? 'quiet'}>{known ? t(`event.${event.kind}`) : event.kind}</Badge>
      {event.task ? (
        <>
          <TextLink to={`/task/${event.task.id}`} className="event-key">
            <Given text={event.task.handler} className="strong" /> <Given text={event.task.key} className="mono" />
          </TextLink>
          <span className="quiet-text nowrap">
            {event.task.attempts > 0 && t('events.attempt', { attempt: event.task.attempts })}
          </span>
        </>
      ) : (
        <span />
      )}
      <Given text={event.message ?? event.table ?? ''} className="event-message" />
    </li>
  );
}
