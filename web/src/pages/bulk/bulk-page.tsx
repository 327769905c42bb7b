// Bulk jobs of this daemon: running and past.
import { Layers } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { BulkJob } from '../../api/contract';
import { useBulkJobs } from '../../api/more-queries';
import { listUrl, type FilterName } from '../../lib/filters';
import { duration } from '../../lib/time';
import { Empty, PageHead, TextLink } from '../../ui/basics';
import { Loaded } from '../../ui/card';
import { Time } from '../../ui/time';
import { JobView } from './job-progress';

export default function BulkPage() {
  const { t } = useTranslation();
  const jobs = useBulkJobs();
  return (
    <>
      <PageHead title={t('bulk.jobs')} lead={t('bulk.lead')} />
      <Loaded query={jobs} lines={6}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={Layers} title={t('bulk.none')}>
              <p>{t('bulk.noneText')}</p>
              <TextLink to="/tasks">{t('list.tasks')}</TextLink>
            </Empty>
          ) : (
            <div className="jobs">
              {all.toReversed().map((job) => (
                <article className="card" key={job.id} data-row={job.id}>
                  <header className="card-head">
                    <h2>{t(`action.${job.action}`)}</h2>
                    <span className="quiet-text">
                      <Time at={job.asked_at} />
                      {job.ended_at &&
                        ` · ${t('bulk.took', { time: duration(Date.parse(job.ended_at) - Date.parse(job.asked_at)) })}`}
                    </span>
                    <code className="quiet-text">{job.id}</code>
                  </header>
                  <div className="card-body">
                    <WhichTasks job={job} />
                    <JobView job={job} />
                  </div>
                </article>
              ))}
            </div>
          )
        }
      </Loaded>
    </>
  );
}

// The tasks as they were asked for, with a link to those that match now, and who asked.
function WhichTasks({ job }: { job: BulkJob }) {
  const { t } = useTranslation();
  const conditions = Object.entries(job.filter) as [FilterName, string][];
  const list = job.action === 'requeue' ? 'history' : 'tasks';
  return (
    <p className="quiet-text">
      <TextLink to={listUrl(list, job.filter)}>
        {conditions.length === 0 ? t('bulk.all') : conditions.map(([name, value]) => `${t(`filter.${name}`)}: ${value}`).join(' · ')}
      </TextLink>
      {` · ${t('bulk.askedBy', { name: job.by })}`}
    </p>
  );
}
