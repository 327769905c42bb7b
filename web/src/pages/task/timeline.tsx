// The moments of a task, oldest first, each with its time and what is known about it.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '../../api/contract';
import { lifeOf, type Moment } from '../../lib/moments';
import { duration } from '../../lib/time';
import { Given, TextLink } from '../../ui/basics';
import { OUTCOME_TONES } from '../../ui/task-badge';
import { Time, useNow } from '../../ui/time';

export function Timeline({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { moments, more } = lifeOf(task, useNow());
  return (
    <ol className="timeline">
      {moments.map((moment, i) => (
        <li key={i} className={`${moment.kind} ${tone(moment, task)}`}>
          <span className="timeline-dot" aria-hidden />
          <div>
            <p>
              <b>{moment.attempt ? t(`moment.${moment.kind}`, { attempt: moment.attempt }) : t(`moment.${moment.kind}`)}</b>{' '}
              {moment.kind !== 'limit' && moment.kind !== 'running' && (
                <span className="quiet-text">
                  {moment.kind === 'planned' && t('moment.about')} {moment.kind === 'next' && t('moment.due')}{' '}
                  <Time at={moment.at} />
                  {i > 0 &&
                    !moment.future &&
                    moment.kind !== 'next' &&
                    moment.at > moments[0]!.at &&
                    ` · ${t('moment.after', { time: duration(moment.at - moments[0]!.at) })}`}
                </span>
              )}
            </p>
            <Detail moment={moment} task={task} />
            {moment.missing ? <p className="quiet-text">{t('moment.between', { count: moment.missing })}</p> : null}
          </div>
        </li>
      ))}
      {more && <li className="quiet-text more">{task.policy.max_attempts ? t('moment.more', { max: task.policy.max_attempts }) : t('moment.forever')}</li>}
    </ol>
  );
}

function tone(moment: Moment, task: Task): string {
  if (moment.kind === 'succeeded') return 'ok';
  if (moment.kind === 'crashed' || moment.kind === 'lost') return 'warn';
  if (moment.kind === 'failed' || moment.kind === 'first_failed') return 'bad';
  if (moment.kind === 'ended') return OUTCOME_TONES[task.outcome ?? ''] ?? '';
  return moment.future ? 'future' : '';
}

function Detail({ moment, task }: { moment: Moment; task: Task }): ReactNode {
  const { t } = useTranslation();
  switch (moment.kind) {
    case 'stored':
      return (
        task.requeue_of && (
          <p className="quiet-text">
            {t('task.requeueOf')} <TextLink to={`/task/${task.requeue_of}`}>{task.requeue_of}</TextLink>
          </p>
        )
      );
    case 'succeeded':
    case 'crashed':
    case 'lost':
    case 'failed':
      return <Attempt moment={moment} task={task} />;
    case 'running':
      return (
        <p className="quiet-text">
          <Given text={task.locked_by ?? ''} className="mono" />
          {task.lease_until && (
            <>
              {' · '}
              {t('task.leaseUntil')} <Time at={task.lease_until} />
            </>
          )}
          {task.progress && (
            <>
              {' · '}
              <Given text={task.progress} />
            </>
          )}
        </p>
      );
    case 'ended':
      return (
        <p className="quiet-text">
          {t(`outcome.${task.outcome}`)}
          {task.requeued_as && (
            <>
              {' · '}
              {t('task.requeuedAs')} <TextLink to={`/task/${task.requeued_as}`}>{task.requeued_as}</TextLink>
            </>
          )}
        </p>
      );
    default:
      return null;
  }
}

// Only the last attempt's error is stored whole.
function Attempt({ moment, task }: { moment: Moment; task: Task }) {
  const { t } = useTranslation();
  const { kept } = moment;
  const last = moment.kind === 'failed' && moment.at === Date.parse(task.last_failed_at ?? '');
  const error = last || !kept ? task.last_error : kept.error;
  const took = kept?.took_ms !== undefined && t('moment.took', { time: duration(kept.took_ms) });
  return (
    <>
      {(took || kept?.by) && (
        <p className="quiet-text">
          {took}
          {took && kept?.by && ' · '}
          {kept?.by && <Given text={kept.by} className="mono" />}
        </p>
      )}
      {moment.kind === 'failed' && error && <ErrorText text={error} />}
    </>
  );
}

function ErrorText({ text }: { text: string }) {
  return (
    <pre className="error-text" tabIndex={0} dir="auto">
      {text}
    </pre>
  );
}
