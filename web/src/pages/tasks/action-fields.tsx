// The fields of the dialogs for actions: the reason of `fail`, and whether callbacks are called.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Action, ActionOptions } from '../../api/actions';
import { Field } from '../../ui/dialog';

export interface Fields {
  why: string;
  setWhy: (why: string) => void;
  untold: boolean;
  setUntold: (untold: boolean) => void;
  complete: boolean;
  options: ActionOptions;
}

export function useActionFields(action: Action): Fields {
  const [why, setWhy] = useState('');
  const [untold, setUntold] = useState(false);
  const complete = action !== 'fail' || why.trim() !== '';
  return { why, setWhy, untold, setUntold, complete, options: { why: why.trim(), untold } };
}

export function ActionFields({ action, fields }: { action: Action; fields: Fields }) {
  const { t } = useTranslation();
  if (action === 'retry' || action === 'requeue') return null;
  return (
    <>
      {action === 'fail' && (
        <Field label={t('action.why')} hint={t('action.whyHint')}>
          <input value={fields.why} maxLength={1000} required autoFocus onChange={(event) => fields.setWhy(event.target.value)} />
        </Field>
      )}
      <label className="check">
        <input type="checkbox" checked={fields.untold} onChange={(event) => fields.setUntold(event.target.checked)} />
        <span>
          {t('action.untold')}
          <small>{t('action.untoldHint')}</small>
        </span>
      </label>
    </>
  );
}
