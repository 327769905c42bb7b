// The actions that the task's state and the token allow.
import { SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/use-change';
import { act, allowedActions, refreshTasks, type Action } from '../../api/actions';
import type { Task } from '../../api/contract';
import { navigate } from '../../lib/location';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Problem } from '../../ui/card';
import { Dialog } from '../../ui/dialog';
import { tell } from '../../ui/toast';
import { ActionFields, useActionFields } from '../tasks/action-fields';
import { ACTION_ICONS } from '../tasks/selection-bar';
import { ArgumentsEditor, useArgumentsDraft } from './arguments-editor';
import { EditPolicy } from './edit-policy';

export function TaskActions({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asking, setAsking] = useState<Action>();
  const [editing, setEditing] = useState(false);
  if (!may('operate')) return null;
  return (
    <div className="actions">
      {allowedActions(task).map((action, i) => (
        <Button key={action} kind={i === 0 ? 'primary' : 'plain'} icon={ACTION_ICONS[action]} onClick={() => setAsking(action)}>
          {t(`action.${action}`)}
        </Button>
      ))}
      {task.state === 'pending' && task.stage === 'run' && (
        <Button icon={SlidersHorizontal} onClick={() => setEditing(true)}>
          {t('action.edit')}
        </Button>
      )}
      {asking && <ActionDialog task={task} action={asking} onClose={() => setAsking(undefined)} />}
      {editing && <EditPolicy task={task} onClose={() => setEditing(false)} />}
    </div>
  );
}

function ActionDialog({ task, action, onClose }: { task: Task; action: Action; onClose: () => void }) {
  const { t } = useTranslation();
  const fields = useActionFields(action);
  const draft = useArgumentsDraft(task, action === 'requeue');
  const complete = fields.complete && draft.complete;
  const change = useChange({
    mutationFn: () => act(task.id, action, { ...fields.options, ...(draft.args && { args: draft.args }) }),
    onSuccess: (id) => {
      tell(t(`action.done.${action}`));
      onClose();
      if (id !== task.id) navigate(`/task/${id}`);
    },
    onSettled: refreshTasks,
  });
  return (
    <Dialog
      title={t(`action.title.${action}`)}
      onClose={onClose}
      wide={draft.open}
      onSubmit={() => complete && change.send()}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button
            type="submit"
            kind={action === 'retry' || action === 'requeue' ? 'primary' : 'danger'}
            busy={change.isPending}
            disabled={!complete}
          >
            {t(`action.${action}`)}
          </Button>
        </>
      }
    >
      <p>{t(`action.about.${action}`)}</p>
      {action === 'requeue' && task.outcome === 'quarantined' && <p className="warn-text">{t('action.quarantinedWarning')}</p>}
      {action === 'requeue' && <ArgumentsEditor draft={draft} />}
      <ActionFields action={action} fields={fields} />
      {change.isError && <Problem error={change.error} />}
    </Dialog>
  );
}
