// Who changed what, as this daemon has seen it since its start.
import { EyeOff, ScrollText, Search } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAudit } from '../../api/more-queries';
import type { AuditLog } from '../../api/contract';
import { useSession } from '../../shell/session';
import { Badge, Empty, Given, PageHead, TextLink, Ticked } from '../../ui/basics';
import { Loaded } from '../../ui/card';
import { CopyButton } from '../../ui/copy';
import { Time } from '../../ui/time';

type Entry = AuditLog['entries'][number];

export default function AuditPage() {
  const { t } = useTranslation();
  const allowed = useSession().may('administer');
  const audit = useAudit(allowed);
  return (
    <>
      <PageHead title={t('audit.title')} lead={t('audit.lead')} />
      {allowed ? (
        <Loaded query={audit} lines={8}>
          {(log) => <Log log={log} />}
        </Loaded>
      ) : (
        <Empty icon={EyeOff} title={t('audit.forAdmins')} />
      )}
    </>
  );
}

export function found(entry: Entry, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [entry.by, entry.request, entry.from, entry.status, entry.request_id].some((each) => each.toLowerCase().includes(wanted));
}

// The id in "POST /v1/tasks/17/cancel".
export function taskOf(request: string): string | undefined {
  return /\/v1\/tasks\/(\d{1,19})(?:\/|$)/.exec(request)?.[1];
}

function Log({ log }: { log: AuditLog }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const shown = log.entries.filter((entry) => found(entry, text));
  const where = (
    <p className="quiet-text window">
      {t('audit.withFile')} <Time at={log.since} />. <Ticked text={t(log.file ? 'audit.fileText' : 'audit.noFileText')} />
    </p>
  );
  if (log.entries.length === 0) {
    return (
      <Empty icon={ScrollText} title={t('audit.none')}>
        <p>{t('audit.noneText')}</p>
        {where}
      </Empty>
    );
  }
  return (
    <>
      <div className="filter-bar" role="search">
        <div className="find">
          <Search className="icon" aria-hidden />
          <input
            type="search"
            data-search
            placeholder={t('audit.find')}
            aria-label={t('audit.find')}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <kbd aria-hidden>/</kbd>
        </div>
      </div>
      {where}
      {shown.length === 0 ? <p>{t('audit.noMatch')}</p> : <Entries entries={shown} />}
    </>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  const { t } = useTranslation();
  return (
    <div className="table-scroll">
      <table className="table rows audit" aria-label={t('audit.title')}>
        <thead>
          <tr>
            {(['at', 'by', 'request', 'status', 'said', 'from', 'namespace'] as const).map((name) => (
              <th key={name}>{t(`audit.${name}`)}</th>
            ))}
            <th>
              <span className="unseen">{t('audit.id')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, i) => (
            <tr key={`${entry.request_id} ${i}`} data-row={entry.request_id}>
              <td className="nowrap" data-label={t('audit.at')}>
                <Time at={entry.at} />
              </td>
              <td className="strong" data-label={t('audit.by')}>
                <Given text={entry.by} />
              </td>
              <td className="mono" data-label={t('audit.request')}>
                <Request text={entry.request} />
              </td>
              <td data-label={t('audit.status')}>
                <Badge tone={entry.status < '300' ? 'ok' : entry.status < '500' ? 'warn' : 'bad'}>{entry.status}</Badge>
              </td>
              <td className="wide mono" data-label={t('audit.said')}>
                {entry.said && <Given text={entry.said} />}
              </td>
              <td className="mono" data-label={t('audit.from')}>
                <Given text={entry.from} />
              </td>
              <td data-label={t('audit.namespace')}>
                <Given text={entry.namespace} />
              </td>
              <td className="open">
                <CopyButton text={entry.request_id} label={t('common.copyRequestId')} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Request({ text }: { text: string }) {
  const id = taskOf(text);
  if (!id) return <Given text={text} />;
  return (
    <TextLink to={`/task/${id}`}>
      <Given text={text} />
    </TextLink>
  );
}
