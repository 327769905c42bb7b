// A bulk job as it advances, with a button to stop it.
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { refreshTasks } from '../../api/actions';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { BulkJob } from '../../api/contract';
import { useBulkJob } from '../../api/more-queries';
import { queryClient } from '../../api/queries';
import { full } from '../../lib/numbers';
import { useSession } from '../../shell/session';
import { Badge, Button, type Tone } from '../../ui/basics';
import { Loaded } from '../../ui/card';
import { Progress } from '../../ui/meter';
import { tellError } from '../../ui/toast';

const TONES: Record<BulkJob['state'], Tone> = { waiting: 'quiet', running: 'info', done: 'ok', stopped: 'warn', failed: 'bad' };

export function JobProgress({ id }: { id: string }) {
  const job = useBulkJob(id);
  const state = job.data?.state;
  useEffect(() => {
    if (state === 'done' || state === 'stopped' || state === 'failed') refreshTasks();
  }, [state]);
  return <Loaded query={job}>{(data) => <JobView job={data} />}</Loaded>;
}

export function JobView({ job }: { job: BulkJob }) {
  const { t, i18n } = useTranslation();
  const { may } = useSession();
  const stop = useChange({
    mutationFn: () => api.POST('/v1/bulk/{id}/stop', { params: { path: { id: job.id } } }),
    onError: tellError,
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: ['bulk', job.id] });
      void queryClient.invalidateQueries({ queryKey: ['changing', 'bulk'] });
    },
  });
  const going = job.state === 'waiting' || job.state === 'running';
  const left = job.state === 'done' ? job.matched - job.changed - job.skipped : 0; // ended or changed by others meanwhile
  const number = (value: number) => full(value, i18n.language);
  return (
    <div className="job">
      <div className="job-line">
        <Badge tone={TONES[job.state]}>{t(`bulk.state.${job.state}`)}</Badge>
        <span className="grow">
          {t('bulk.changed', { changed: number(job.changed), of: number(job.matched) })}
          {job.per_second !== undefined && (
            <span className="quiet-text"> · {t('bulk.perSecond', { number: number(job.per_second) })}</span>
          )}
          {left > 0 && <span className="quiet-text"> · {t('bulk.left', { count: left })}</span>}
          {job.skipped > 0 && <span className="quiet-text"> · {t('bulk.skipped', { count: job.skipped })}</span>}
        </span>
        {going && may('operate') && (
          <Button busy={stop.isPending} onClick={stop.send}>
            {t('bulk.stop')}
          </Button>
        )}
      </div>
      <Progress value={job.changed + job.skipped + left} of={job.matched} label={t('bulk.progress')} />
      {job.error && <p className="bad-text">{job.error}</p>}
    </div>
  );
}
