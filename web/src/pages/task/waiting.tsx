// Why the task waits, in one sentence. The daemon says the kind and its times; a kind that this page does not know is
// told in the daemon's own words.
import { Ban, Clock3, Gauge, Hourglass, LoaderCircle, PauseCircle, RefreshCwOff, ZapOff, type LucideIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Task, WaitsFor } from '../../api/contract';
import { useHandlers } from '../../api/queries';
import { Given, TextLink, Ticked } from '../../ui/basics';
import { Time, useNow } from '../../ui/time';
import { HeldBy } from './held-by';

const ICONS: Record<string, LucideIcon> = {
  later: Clock3,
  retry: Clock3,
  paused: PauseCircle,
  circuit: ZapOff,
  retry_budget: RefreshCwOff,
  limit: Gauge,
  no_handler: Ban,
  due: Hourglass,
  running: LoaderCircle,
  lease_over: Hourglass,
};

export function Waiting({ task }: { task: Task }) {
  const { t } = useTranslation();
  const now = useNow();
  const paused = useHandlers().data?.find((each) => each.name === task.handler)?.paused;
  if (task.state === 'finished') return <Ended task={task} />;

  const waits: WaitsFor = task.waits_for ?? guess(task, paused, now);
  const Icon = ICONS[waits.kind];
  if (!Icon) {
    return (
      <section className="waiting" aria-label={t('task.why')}>
        <p>
          <Ticked text={waits.text} />
        </p>
      </section>
    );
  }
  const ahead = waits.kind === 'later' || waits.kind === 'retry';
  const at = ahead ? waits.until : waits.since;
  const callback = task.stage !== 'run' && (waits.kind === 'later' || waits.kind === 'running');
  return (
    <section className={`waiting ${waits.kind}`} aria-label={t('task.why')} title={waits.text}>
      <Icon className="icon" aria-hidden />
      <div>
        <p>
          {callback ? t(`task.callback.${waits.kind}`, { stage: task.stage }) : t(`task.waits.${waits.kind}`)}{' '}
          {waits.by && <Given text={waits.by} className="mono" />}
          {at && (
            <>
              {ahead ? ' ' : ' · '}
              {(waits.kind === 'due' || waits.kind === 'no_handler') && t('moment.due')} <Time at={at} />
            </>
          )}
          {waits.why && (
            <>
              {' '}
              <q>
                <Given text={waits.why} />
              </q>
            </>
          )}
        </p>
        {(waits.kind === 'circuit' || waits.kind === 'retry_budget' || waits.kind === 'limit') && (
          <HeldBy kind={waits.kind} handler={task.handler} />
        )}
      </div>
      {waits.kind === 'limit' && <TextLink to="/handlers">{t('task.showLimits')}</TextLink>}
      {(waits.kind === 'circuit' || waits.kind === 'retry_budget') && <TextLink to="/handlers">{t('task.showCircuits')}</TextLink>}
      {(waits.kind === 'paused' || waits.kind === 'no_handler') && (
        <TextLink to={`/handler?name=${encodeURIComponent(task.handler)}`}>{t('task.showHandler')}</TextLink>
      )}
    </section>
  );
}

// For a daemon that does not say: what the task itself tells.
function guess(task: Task, paused: { since: string; why: string } | undefined, now: number): WaitsFor {
  if (task.state === 'running') return { kind: 'running', text: '', by: task.locked_by };
  if (paused) return { kind: 'paused', text: '', since: paused.since, why: paused.why };
  if (task.next_at && Date.parse(task.next_at) > now) {
    return { kind: task.last_error && task.stage === 'run' ? 'retry' : 'later', text: '', until: task.next_at };
  }
  return { kind: task.no_handler ? 'no_handler' : 'due', text: '', since: task.next_at };
}

function Ended({ task }: { task: Task }) {
  const { t } = useTranslation();
  return (
    <section className={`waiting ended ${task.outcome ?? ''}`} aria-label={t('task.how')}>
      <p>
        {t(`task.ended.${task.outcome}`)}
        {task.finished_at && (
          <>
            {' · '}
            <Time at={task.finished_at} />
          </>
        )}
      </p>
      {task.requeued_as && <TextLink to={`/task/${task.requeued_as}`}>{t('task.showRequeued')}</TextLink>}
    </section>
  );
}
