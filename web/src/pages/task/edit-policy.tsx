// Changes the policy of a pending task. Only what differs is sent.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { refreshTasks } from '../../api/actions';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { Task } from '../../api/contract';
import { parseDuration } from '../../lib/backoff';
import { usePrefs, zoneName } from '../../lib/prefs';
import { toApiTime, toLocalInput } from '../../lib/time';
import { Button } from '../../ui/basics';
import { Problem } from '../../ui/card';
import { Dialog, Field } from '../../ui/dialog';
import { tell } from '../../ui/toast';

interface Draft {
  attempts: string;
  duration: string;
  deadline: string;
  backoff: string;
}

type Change = { max_attempts?: number; max_duration_ms?: number; deadline?: string | null; backoff?: string };

function draftOf(task: Task, zone: string): Draft {
  const { policy } = task;
  return {
    attempts: String(policy.max_attempts),
    duration: policy.max_duration_ms ? `${policy.max_duration_ms / 1000}s` : '0',
    deadline: policy.deadline ? toLocalInput(policy.deadline, zone) : '',
    backoff: policy.backoff ?? '',
  };
}

export function changeOf(before: Draft, after: Draft, zone: string): Change {
  const change: Change = {};
  if (after.attempts !== before.attempts) change.max_attempts = Number(after.attempts);
  if (after.duration !== before.duration) change.max_duration_ms = parseDuration(after.duration);
  if (after.deadline !== before.deadline) change.deadline = after.deadline ? toApiTime(after.deadline, zone) : null;
  if (after.backoff !== before.backoff) change.backoff = after.backoff;
  return change;
}

export function EditPolicy({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation();
  const zone = zoneName(usePrefs().zone);
  const [before] = useState(() => draftOf(task, zone)); // an update of the page must not change what was edited
  const [draft, setDraft] = useState(before);
  const change = changeOf(before, draft, zone);
  const set = (field: keyof Draft) => (event: { target: { value: string } }) => setDraft({ ...draft, [field]: event.target.value });
  const valid = /^\d+$/.test(draft.attempts) && !Number.isNaN(parseDuration(draft.duration)) && Object.keys(change).length > 0;

  const save = useChange({
    mutationFn: () => api.PATCH('/v1/tasks/{id}', { params: { path: { id: task.id } }, body: { policy: change } }),
    onSuccess: () => {
      tell(t('policy.saved'));
      onClose();
    },
    onSettled: refreshTasks,
  });
  return (
    <Dialog
      title={t('policy.title')}
      onClose={onClose}
      onSubmit={() => valid && save.send()}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" kind="primary" busy={save.isPending} disabled={!valid}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <p className="quiet-text">{t('policy.about')}</p>
      <Field label={t('policy.maxAttempts')} hint={t('policy.zero')}>
        <input inputMode="numeric" value={draft.attempts} onChange={set('attempts')} />
      </Field>
      <Field label={t('policy.maxDuration')} hint={t('policy.durationHint')}>
        <input value={draft.duration} onChange={set('duration')} />
      </Field>
      <Field label={t('policy.deadline')} hint={t('filter.zone', { zone })}>
        <input type="datetime-local" step="1" value={draft.deadline} onChange={set('deadline')} />
      </Field>
      <Field label={t('policy.backoff')} hint="exponential first=1s factor=2 cap=15m jitter=1s">
        <input className="mono" value={draft.backoff} onChange={set('backoff')} />
      </Field>
      {save.isError && <Problem error={save.error} />}
    </Dialog>
  );
}
