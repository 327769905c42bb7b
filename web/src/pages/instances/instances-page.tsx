// Who runs the tasks: instances, shards by lateness, the store's latency and its tables.
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { useTables } from '../../api/more-queries';
import { useCluster, useMetrics } from '../../api/queries';
import type { Cluster, Table } from '../../api/contract';
import { labelValues, quantile, sum } from '../../lib/metrics';
import { bytes, full } from '../../lib/numbers';
import { duration } from '../../lib/time';
import { useSession } from '../../shell/session';
import { Badge, Given, PageHead } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { Time } from '../../ui/time';
import { Shards } from './shards';

export default function InstancesPage() {
  const { t } = useTranslation();
  const cluster = useCluster();
  return (
    <>
      <PageHead title={t('instances.title')} lead={t('instances.lead')} />
      <div className="two-columns">
        <Card title={t('instances.members')} flush>
          <Loaded query={cluster}>{(data) => <Members cluster={data} />}</Loaded>
        </Card>
        <Card title={t('instances.shards')}>
          <Loaded query={cluster}>{(data) => <Shards late={data.late_ms ?? {}} />}</Loaded>
        </Card>
      </div>
      <div className="two-columns">
        <StoreLatency />
        <Tables />
      </div>
    </>
  );
}

function Members({ cluster }: { cluster: Cluster }) {
  const { t } = useTranslation();
  return (
    <>
      {cluster.trouble && <p className="bad-text inset">{cluster.trouble}</p>}
      {!cluster.trusted && <p className="warn-text inset">{t('instances.untrusted')}</p>}
      <table className="table rows" aria-label={t('instances.members')}>
        <thead>
          <tr>
            <th>{t('instances.name')}</th>
            <th>{t('instances.since')}</th>
            <th>{t('instances.handlers')}</th>
          </tr>
        </thead>
        <tbody>
          {cluster.members.map((member) => (
            <tr key={member.node}>
              <td className="mono" data-label={t('instances.name')}>
                <div>
                  <Given text={member.node} />
                  {member.node === cluster.self && <Badge tone="info">{t('instances.self')}</Badge>}
                  {member.says && <small>{member.says}</small>}
                </div>
              </td>
              <td className="nowrap" data-label={t('instances.since')}>{member.since ? <Time at={member.since} /> : '–'}</td>
              <td className="wrapping" data-label={t('instances.handlers')}>
                {member.handlers ? (
                  <Given text={member.handlers.join(', ') || t('instances.noHandlers')} />
                ) : (
                  t('instances.allHandlers')
                )}
              </td>
            </tr>
          ))}
          {cluster.refused.map((member) => (
            <tr key={member.who}>
              <td className="mono" data-label={t('instances.name')}>
                <Given text={member.who} />
              </td>
              <td data-label={t('instances.since')}>
                <Badge tone="bad">{t('instances.refused')}</Badge>
              </td>
              <td className="wrapping" data-label={t('instances.handlers')}>
                {member.why}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet-text inset">
        {cluster.source === 'alone'
          ? t('instances.alone')
          : t('instances.source', { source: cluster.source, age: duration(cluster.age_ms) })}
      </p>
    </>
  );
}

function StoreLatency() {
  const { t, i18n } = useTranslation();
  const metrics = useMetrics();
  const name = 'easyretry_store_seconds';
  return (
    <Card title={t('instances.store')} flush>
      <Loaded query={metrics}>
        {(samples) => {
          const verbs = labelValues(samples, `${name}_count`, 'verb').filter((verb) => sum(samples, `${name}_count`, { verb }) > 0);
          if (verbs.length === 0) return <p className="quiet-text inset">{t('instances.noCalls')}</p>;
          return (
            <table className="table">
              <thead>
                <tr>
                  <th>{t('instances.verb')}</th>
                  <th className="number">{t('instances.calls')}</th>
                  <th className="number">p50</th>
                  <th className="number">p99</th>
                </tr>
              </thead>
              <tbody>
                {verbs.map((verb) => (
                  <tr key={verb}>
                    <td className="mono">{verb}</td>
                    <td className="number">{full(sum(samples, `${name}_count`, { verb }), i18n.language)}</td>
                    <td className="number">{duration(1000 * (quantile(samples, name, { verb }, 0.5) ?? 0))}</td>
                    <td className="number">{duration(1000 * (quantile(samples, name, { verb }, 0.99) ?? 0))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loaded>
    </Card>
  );
}

// The keeper makes a table before its period begins, and removes it when its period is over long enough.
const planned = (tables: Table[]) => tables.some((table) => table.begins);

// Periods begin at midnight UTC, whatever the time zone of the reader.
function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {at.slice(0, 10)}
    </time>
  );
}

function Tables() {
  const { t, i18n } = useTranslation();
  const { me } = useSession();
  const everywhere = me?.namespaces === '*';
  const tables = useTables(everywhere);
  return (
    <Card title={t('instances.tables')} flush>
      {!everywhere ? (
        <p className="quiet-text inset">{t('instances.tablesForAll')}</p>
      ) : tables.error instanceof ApiError && tables.error.status === 422 ? (
        <p className="quiet-text inset">{tables.error.message}</p>
      ) : (
        <Loaded query={tables}>
          {(all) => (
            <table className="table" aria-label={t('instances.tables')}>
              <thead>
                <tr>
                  <th>{t('instances.table')}</th>
                  <th>{t('instances.tableState')}</th>
                  {planned(all) && <th>{t('instances.begins')}</th>}
                  <th className="number">{t('instances.rows')}</th>
                  <th className="number">{t('instances.size')}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((table) => (
                  <tr key={table.name}>
                    <td className="mono">{table.name}</td>
                    <td>{t(`instances.state.${table.state}`)}</td>
                    {planned(all) && <td className="nowrap">{table.begins ? <Day at={table.begins} /> : '–'}</td>}
                    <td className="number">{full(table.rows, i18n.language)}</td>
                    <td className="number">{bytes(table.bytes)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Loaded>
      )}
    </Card>
  );
}
