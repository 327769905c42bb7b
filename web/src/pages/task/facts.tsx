// The fields of a task, beside its timeline.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '../../api/contract';
import { classOf } from '../../lib/classes';
import { listUrl } from '../../lib/filters';
import { duration } from '../../lib/time';
import { Given, TextLink } from '../../ui/basics';
import { Card } from '../../ui/card';
import { ClassText } from '../../ui/class-text';
import { CopyButton } from '../../ui/copy';
import { Time } from '../../ui/time';
import { Tags } from '../tasks/columns';

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === undefined || children === null || children === '' || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

export function Facts({ task }: { task: Task }) {
  const { t } = useTranslation();
  const kind = task.state === 'finished' ? 'history' : 'tasks';
  return (
    <aside className="stack" aria-label={t('task.facts')}>
      <Card title={t('task.facts')}>
        <dl className="facts">
          <Fact name={t('column.handler')}>
            <TextLink to={`/handler?name=${encodeURIComponent(task.handler)}`}>
              <Given text={task.handler} />
            </TextLink>
          </Fact>
          <Fact name={t('task.namespace')}>
            <Given text={task.namespace} />
          </Fact>
          <Fact name={t('filter.business_type')}>{task.business_type && <Given text={task.business_type} />}</Fact>
          <Fact name={t('filter.business_id')}>
            {task.business_id && (
              <TextLink
                to={listUrl(kind, {
                  business_id: task.business_id,
                  ...(task.business_type && { business_type: task.business_type }),
                })}
              >
                <Given text={task.business_id} />
              </TextLink>
            )}
          </Fact>
          <Fact name={t('column.tags')}>{task.tags.length > 0 && <Tags tags={task.tags} />}</Fact>
          <Fact name={t('column.class')}>
            <ClassText of={classOf(task)} />
          </Fact>
          <Fact name={t('column.created')}>
            <Time at={task.created_at} exact />
          </Fact>
          <Fact name={t('column.next')}>{task.next_at && task.state !== 'finished' && <Time at={task.next_at} exact />}</Fact>
          <Fact name={t('column.finished')}>{task.finished_at && <Time at={task.finished_at} exact />}</Fact>
          <Fact name={t('task.crashes')}>{task.crashes > 0 && task.crashes}</Fact>
          <Fact name={t('task.deliveries')}>{task.deliveries}</Fact>
          <Fact name={t('task.generation')}>{task.generation > 0 && task.generation}</Fact>
          <Fact name={t('task.version')}>{task.version}</Fact>
          <Fact name={t('task.stage')}>{task.stage !== 'run' && <code>{task.stage}</code>}</Fact>
          <Fact name={t('task.trace')}>
            {task.traceparent && (
              <span className="copyable">
                <Given text={task.traceparent} className="mono" />
                <CopyButton text={task.traceparent} label={t('task.copyTrace')} />
              </span>
            )}
          </Fact>
        </dl>
      </Card>
      <Card title={t('task.policy')}>
        <dl className="facts">
          <Fact name={t('column.attempts')}>
            {task.policy.max_attempts
              ? t('task.attemptsOf', { made: task.attempts, most: task.policy.max_attempts })
              : t('task.attemptsNoLimit', { made: task.attempts })}
          </Fact>
          <Fact name={t('policy.backoff')}>{task.policy.backoff && <code>{task.policy.backoff}</code>}</Fact>
          <Fact name={t('policy.maxDuration')}>{task.policy.max_duration_ms > 0 && duration(task.policy.max_duration_ms)}</Fact>
          <Fact name={t('policy.deadline')}>{task.policy.deadline && <Time at={task.policy.deadline} exact />}</Fact>
        </dl>
      </Card>
    </aside>
  );
}
