// One kind of error: how often, since when, where; its newest tasks, and one action on them.
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Action } from '../../api/actions';
import type { ErrorGroup } from '../../api/contract';
import { listUrl, type Filters, type ListKind } from '../../lib/filters';
import { full } from '../../lib/numbers';
import { useSession } from '../../shell/session';
import { Button, Given, TextLink } from '../../ui/basics';
import { Sparkline } from '../../ui/meter';
import { Time } from '../../ui/time';
import { BulkDialog } from '../tasks/bulk-dialog';
import { ACTION_ICONS } from '../tasks/selection-bar';

interface CardProps {
  group: ErrorGroup;
  of: ListKind;
  range: Filters; // of the page: tasks of this kind outside of it are left alone
  most: number;
  open: boolean;
}

export function ErrorCard({ group, of, range, most, open: atFirst }: CardProps) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(atFirst);
  return (
    <article className="card error-group" data-row={group.fingerprint}>
      <button type="button" className="error-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="error-count">
          <b>{full(group.count, i18n.language)}</b>
          <span className="error-bar" aria-hidden>
            <span style={{ width: `${(100 * group.count) / most}%` }} />
          </span>
        </span>
        <span className="error-what">
          <Given text={group.text} className="mono" />
          <span className="quiet-text">
            {group.handlers.join(', ')} · {t('errors.last')} <Time at={group.last_seen} /> · {t('errors.first')}{' '}
            <Time at={group.first_seen} />
          </span>
        </span>
        {group.by_hour.some((number) => number > 0) && (
          <Sparkline values={group.by_hour} label={t('errors.byHour')} tone="bad" />
        )}
        <ChevronRight className={`icon ${open ? 'turned' : ''}`} aria-hidden />
      </button>
      {open && <Details group={group} of={of} filters={{ ...range, error: group.fingerprint }} />}
    </article>
  );
}

function Details({ group, of, filters }: { group: ErrorGroup; of: ListKind; filters: Filters }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [action, setAction] = useState<Action>();
  const actions: Action[] = of === 'history' ? ['requeue'] : ['retry', 'cancel'];
  return (
    <div className="error-details">
      <p className="samples">
        <span className="quiet-text">{t('errors.samples')}</span>
        {group.ids.map((id) => (
          <TextLink key={id} to={`/task/${id}`} className="mono">
            {id}
          </TextLink>
        ))}
      </p>
      <div className="actions">
        {may('operate') &&
          actions.map((each) => (
            <Button key={each} icon={ACTION_ICONS[each]} onClick={() => setAction(each)}>
              {t(`errors.all_${each}`)}
            </Button>
          ))}
        <TextLink to={listUrl(of, filters)}>{t('errors.showKind')}</TextLink>
      </div>
      {action && <BulkDialog action={action} filters={filters} onClose={() => setAction(undefined)} />}
    </div>
  );
}
