// Bulk jobs of this daemon: running and past.
import { Layers } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useBulkJobs } from '../../api/more-queries';
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
