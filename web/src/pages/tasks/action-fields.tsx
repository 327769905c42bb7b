// The fields of the dialogs for actions: the reason of `fail`, whether callbacks are called, the class of requeued tasks.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Action, ActionOptions } from '../../api/actions';
import { CLASSES, type TaskClass } from '../../lib/classes';
import { Field } from '../../ui/dialog';

export interface Fields {
  why: string;
  setWhy: (why: string) => void;
  untold: boolean;
  setUntold: (untold: boolean) => void;
  chosenClass: TaskClass | undefined; // undefined: each task keeps its own
  setClass: (chosen: TaskClass | undefined) => void;
  complete: boolean;
  options: ActionOptions;
}

export function useActionFields(action: Action, classAtFirst?: TaskClass): Fields {
  const [why, setWhy] = useState('');
  const [untold, setUntold] = useState(false);
  const [chosenClass, setClass] = useState(classAtFirst);
  const complete = action !== 'fail' || why.trim() !== '';
  const options = { why: why.trim(), untold, ...(chosenClass && { class: chosenClass }) };
  return { why, setWhy, untold, setUntold, chosenClass, setClass, complete, options };
}

// `keeps`: tasks can be requeued with the class they have; a bulk job always gives them one.
export function ActionFields({ action, fields, keeps = true }: { action: Action; fields: Fields; keeps?: boolean }) {
  const { t } = useTranslation();
  if (action === 'retry') return null;
  if (action === 'requeue') return <ClassField fields={fields} keeps={keeps} />;
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

function ClassField({ fields, keeps }: { fields: Fields; keeps: boolean }) {
  const { t } = useTranslation();
  return (
    <Field label={t(keeps ? 'action.class' : 'bulk.class')} hint={t(keeps ? 'action.classHint' : 'bulk.classHint')}>
      <select
        value={fields.chosenClass ?? ''}
        onChange={(event) => fields.setClass((event.target.value || undefined) as TaskClass | undefined)}
      >
        {keeps && <option value="">{t('action.sameClass')}</option>}
        {CLASSES.map((each) => (
          <option key={each} value={each}>
            {t(`class.${each}`)}
          </option>
        ))}
      </select>
    </Field>
  );
}
