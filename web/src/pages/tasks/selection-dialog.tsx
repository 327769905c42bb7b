// One action on tasks named one by one: confirm, progress, what was refused.
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { actOnEach, type Action, type Failure } from '../../api/actions';
import { full } from '../../lib/numbers';
import { Button, TextLink } from '../../ui/basics';
import { Dialog } from '../../ui/dialog';
import { Progress } from '../../ui/meter';
import { said } from '../../ui/said';
import { ActionFields, useActionFields } from './action-fields';

interface DialogProps {
  action: Action;
  ids: string[];
  onClose: (changed: boolean) => void;
}

export function SelectionDialog({ action, ids, onClose }: DialogProps) {
  const { t, i18n } = useTranslation();
  const fields = useActionFields(action);
  const [state, setState] = useState<'asking' | 'running' | 'done'>('asking');
  const [done, setDone] = useState(0);
  const [failures, setFailures] = useState<Failure[]>([]);
  const stop = useRef(false);

  const start = () => {
    if (state !== 'asking' || !fields.complete) return;
    setState('running');
    void actOnEach(
      ids,
      action,
      fields.options,
      (count, refused) => {
        setDone(count);
        setFailures(refused);
      },
      () => stop.current,
    ).then(() => setState('done'));
  };
  const close = () => {
    stop.current = true;
    onClose(state !== 'asking');
  };

  return (
    <Dialog
      title={t(`bulk.title.${action}`)}
      onClose={close}
      onSubmit={start}
      footer={
        state === 'asking' ? (
          <>
            <Button onClick={close}>{t('common.back')}</Button>
            <Button
              type="submit"
              kind={action === 'retry' || action === 'requeue' ? 'primary' : 'danger'}
              disabled={!fields.complete}
            >
              {t('bulk.confirm', { action: t(`action.${action}`), count: ids.length })}
            </Button>
          </>
        ) : (
          <Button onClick={close}>{t(state === 'running' ? 'bulk.stop' : 'common.close')}</Button>
        )
      }
    >
      {state === 'asking' && (
        <>
          <p>{t(`bulk.about.${action}`)}</p>
          <ActionFields action={action} fields={fields} />
        </>
      )}
      {state !== 'asking' && (
        <>
          <Progress value={done} of={ids.length} label={t('bulk.progress')} />
          <p aria-live="polite">
            {t('bulk.changed', { changed: full(done - failures.length, i18n.language), of: full(ids.length, i18n.language) })}
            {failures.length > 0 && ` · ${t('bulk.refused', { count: failures.length })}`}
          </p>
          <ul className="refusals">
            {failures.slice(0, 20).map(({ id, error }) => (
              <li key={id}>
                <TextLink to={`/task/${id}`} className="mono">
                  {id}
                </TextLink>{' '}
                {said(error, t)}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
