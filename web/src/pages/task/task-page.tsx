// One task: why it waits, what happened to it, what will, and what can be done.
import { ArrowLeft } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useTask } from '../../api/more-queries';
import type { Task } from '../../api/contract';
import { curl } from '../../lib/curl';
import { listUrl } from '../../lib/filters';
import { useSession } from '../../shell/session';
import { Given, TextLink } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { CopyButton } from '../../ui/copy';
import { ClassText } from '../../ui/class-text';
import { TaskBadge } from '../../ui/task-badge';
import { Arguments } from './arguments';
import { Facts } from './facts';
import { Scale } from './scale';
import { TaskActions } from './task-actions';
import { Timeline } from './timeline';
import { Waiting } from './waiting';

export default function TaskPage({ id }: { id: string }) {
  const { t } = useTranslation();
  const task = useTask(id);
  const back = task.data?.state === 'finished' ? 'history' : 'tasks';
  return (
    <>
      <nav className="crumbs" aria-label={t('task.back')}>
        <TextLink to={listUrl(back)}>
          <ArrowLeft className="icon small" aria-hidden />
          {t(`list.${back}`)}
        </TextLink>
      </nav>
      <Loaded query={task} lines={8}>
        {(data) => <TaskView task={data} />}
      </Loaded>
    </>
  );
}

function TaskView({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { namespace } = useSession();
  return (
    <>
      <header className="page-head task-head">
        <div>
          <div className="title-line">
            <h1>
              <Given text={task.handler} />
            </h1>
            <TaskBadge task={task} />
            {task.class && <ClassText of={task.class} />}
          </div>
          <p className="lead">
            <Given text={task.key} className="mono" />
          </p>
          <p className="task-id">
            <span className="mono">{task.id}</span>
            <CopyButton text={task.id} label={t('task.copyId')} />
            <CopyButton
              text={curl('GET', `/v1/tasks/${task.id}`, undefined, namespace)}
              label={t('common.copyCurl')}
              shown="curl"
            />
          </p>
        </div>
        <TaskActions task={task} />
      </header>
      <Waiting task={task} />
      <div className="task-columns">
        <div className="stack">
          <Card title={t('task.timeline')}>
            <Scale task={task} />
            <Timeline task={task} />
          </Card>
          <Arguments key={task.id} task={task} />
        </div>
        <Facts task={task} />
      </div>
    </>
  );
}
