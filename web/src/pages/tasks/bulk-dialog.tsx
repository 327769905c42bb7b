// One action on all tasks that match a filter: a dry run with a sample, a confirmation, and the progress of the job.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { refreshTasks, type Action } from '../../api/actions';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { BulkForeseen, BulkRequest } from '../../api/contract';
import type { Filters } from '../../lib/filters';
import { full } from '../../lib/numbers';
import { Button, TextLink } from '../../ui/basics';
import { Loaded, Problem } from '../../ui/card';
import { Dialog, Field } from '../../ui/dialog';
import { JobProgress } from '../bulk/job-progress';
import { ActionFields, useActionFields } from './action-fields';

const TYPED_ABOVE = 100; // more tasks than this need their number typed
const MOST = 10_000_000;

function request(action: Action, filters: Filters, more: Partial<BulkRequest>): BulkRequest {
  const empty = Object.keys(filters).length === 0;
  return {
    action,
    ...(empty ? { everything: true } : { filter: filters as NonNullable<BulkRequest['filter']> }),
    most: MOST,
    ...more,
  };
}

function earlier(wanted: string | undefined, foreseen: string): string {
  return wanted && Date.parse(wanted) < Date.parse(foreseen) ? wanted : foreseen;
}

// Tasks that were requeued cannot be requeued again: to show them in the list, too, is no condition for a change.
export function conditionsOf({ requeued: _, ...filters }: Filters): Filters {
  return filters;
}

export function BulkDialog({ action, filters: shown, onClose }: { action: Action; filters: Filters; onClose: () => void }) {
  const { t } = useTranslation();
  const filters = conditionsOf(shown);
  const fields = useActionFields(action, action === 'requeue' ? 'background' : undefined);
  const [typed, setTyped] = useState('');
  const [pace, setPace] = useState('');

  const foreseen = useQuery({
    queryKey: ['dry run', action, filters],
    queryFn: async () => {
      const why = action === 'fail' ? { why: 'dry run' } : {};
      return (await api.POST('/v1/bulk', { body: request(action, filters, { dry_run: true, ...why }) })).data as BulkForeseen;
    },
    gcTime: 0,
    staleTime: Infinity, // the number that was confirmed must not change meanwhile
  });
  const job = useChange({
    mutationFn: async () => {
      // Tasks stored after the dry run are not among those that were confirmed.
      const filter = { ...filters, created_until: earlier(filters.created_until, foreseen.data!.created_until) };
      const options = {
        ...(fields.options.untold && { untold: true }),
        ...(action === 'fail' && { why: fields.options.why! }),
        ...(fields.options.class && { class: fields.options.class }),
        ...(pace && { per_second: Number(pace) }),
      };
      const answer = await api.POST('/v1/bulk', { body: request(action, filter, options) });
      return answer.data as { id: string };
    },
    onSettled: refreshTasks,
  });

  const matched = foreseen.data?.matched ?? 0;
  // The search may have ended before it found all, or any.
  const unfinished = foreseen.data?.complete === false;
  const some = matched > 0 || unfinished;
  const typing = matched > TYPED_ABOVE || unfinished;
  const paced = pace === '' || (/^\d{1,5}$/.test(pace) && Number(pace) >= 1 && Number(pace) <= 10_000);
  const confirmed = some && fields.complete && paced && (!typing || typed.trim() === String(matched));
  const footer = job.data ? (
    <>
      <TextLink to="/bulk">{t('nav.bulk')}</TextLink>
      <Button onClick={onClose}>{t('common.close')}</Button>
    </>
  ) : (
    <>
      <Button onClick={onClose}>{t('common.back')}</Button>
      <Button
        type="submit"
        kind={action === 'retry' || action === 'requeue' ? 'primary' : 'danger'}
        disabled={!confirmed}
        busy={job.isPending}
      >
        {t('bulk.confirm', { action: t(`action.${action}`), count: matched })}
      </Button>
    </>
  );

  return (
    <Dialog title={t(`bulk.title.${action}`)} onClose={onClose} onSubmit={() => confirmed && job.send()} footer={footer}>
      {job.data ? (
        <JobProgress id={job.data.id} />
      ) : (
        <Loaded query={foreseen}>
          {(answer) => (
            <>
              <Foreseen answer={answer} />
              {some && <p>{t(`bulk.about.${action}`)}</p>}
              {some && <ActionFields action={action} fields={fields} keeps={false} />}
              {(matched > 1 || unfinished) && (
                <Field label={t('bulk.pace')} hint={t('bulk.paceHint')}>
                  <input inputMode="numeric" autoComplete="off" value={pace} onChange={(event) => setPace(event.target.value.trim())} />
                </Field>
              )}
              {typing && (
                <Field label={t('bulk.type', { number: matched })}>
                  <input inputMode="numeric" autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
                </Field>
              )}
            </>
          )}
        </Loaded>
      )}
      {job.isError && <Problem error={job.error} />}
    </Dialog>
  );
}

function Foreseen({ answer }: { answer: BulkForeseen }) {
  const { t, i18n } = useTranslation();
  return (
    <div className="foreseen">
      <p>
        {answer.complete === false && t('bulk.atLeast')} <b className="big">{full(answer.matched, i18n.language)}</b>{' '}
        {t('bulk.match', { count: answer.matched })}
      </p>
      {answer.complete === false && <p className="warn-text">{t('bulk.moreMatch')}</p>}
      {answer.sample.length > 0 && (
        <p className="sample">
          <span className="quiet-text">{t('bulk.sample')}</span>
          {answer.sample.slice(0, 6).map((id) => (
            <TextLink key={id} to={`/task/${id}`} className="mono">
              {id}
            </TextLink>
          ))}
        </p>
      )}
    </div>
  );
}
