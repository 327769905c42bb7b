// The filters of a list. All of them are in the URL, so a list can be sent to a colleague.
import { ListFilter, Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHandlers } from '../../api/queries';
import { CLASSES } from '../../lib/classes';
import {
  FILTER_NAMES,
  isTaskId,
  isTime,
  listUrl,
  OUTCOMES,
  STATES,
  type FilterName,
  type Filters,
  type ListKind,
} from '../../lib/filters';
import { navigate } from '../../lib/location';
import { usePrefs, zoneName } from '../../lib/prefs';
import { absolute, now, toApiTime, toLocalInput } from '../../lib/time';
import { Button } from '../../ui/basics';
import { Field } from '../../ui/dialog';
import { Dropdown } from '../../ui/dropdown';

interface BarProps {
  kind: ListKind;
  filters: Filters;
}

function useChange({ kind, filters }: BarProps) {
  return (change: Filters) => navigate(listUrl(kind, { ...filters, ...change }));
}

export function FilterBar(props: BarProps) {
  const { t } = useTranslation();
  const change = useChange(props);
  const handlers = useHandlers().data ?? [];
  const { kind, filters } = props;
  const which = kind === 'tasks' ? 'state' : 'outcome';
  return (
    <div className="filter-bar" role="search">
      <Find {...props} />
      <select
        aria-label={t('filter.handler')}
        value={filters.handler ?? ''}
        onChange={(event) => change({ handler: event.target.value })}
      >
        <option value="">{t('filter.anyHandler')}</option>
        {filters.handler && !handlers.some((each) => each.name === filters.handler) && <option>{filters.handler}</option>}
        {handlers.map((handler) => (
          <option key={handler.name}>{handler.name}</option>
        ))}
      </select>
      <select
        aria-label={t(`filter.${which}`)}
        value={filters[which] ?? ''}
        onChange={(event) => change({ [which]: event.target.value })}
      >
        <option value="">{t(kind === 'tasks' ? 'filter.anyState' : 'filter.anyOutcome')}</option>
        {(kind === 'tasks' ? STATES : OUTCOMES).map((value) => (
          <option key={value} value={value}>
            {which === 'state' ? t(`state.${value}`) : t(`outcome.${value}`)}
          </option>
        ))}
      </select>
      <Dropdown text={t('filter.more')} icon={ListFilter} align="start">
        {(close) => <MoreFilters {...props} close={close} />}
      </Dropdown>
      <Chips {...props} />
    </div>
  );
}

// A pasted id opens its task; any other text is a key.
function Find({ kind, filters }: BarProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(filters.key ?? '');
  useEffect(() => setText(filters.key ?? ''), [filters.key]);
  return (
    <form
      className="find"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = text.trim();
        navigate(isTaskId(typed) ? `/task/${typed}` : listUrl(kind, { ...filters, key: typed }));
      }}
    >
      <Search className="icon" aria-hidden />
      <input
        type="search"
        data-search
        maxLength={255}
        placeholder={t('filter.find')}
        aria-label={t('filter.find')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <kbd aria-hidden>/</kbd>
    </form>
  );
}

function MoreFilters({ kind, filters, close }: BarProps & { close: () => void }) {
  const { t } = useTranslation();
  const zone = zoneName(usePrefs().zone);
  const form = useRef<HTMLFormElement>(null);
  const shownApart: FilterName[] = ['handler', 'state', 'outcome', 'key', 'error'];
  const names = FILTER_NAMES[kind].filter((name) => !shownApart.includes(name));
  const times = names.filter(isTime);

  const apply = () => {
    const given = new FormData(form.current!);
    const change: Filters = {};
    for (const name of names) {
      const value = String(given.get(name) ?? '').trim();
      change[name] = isTime(name) ? toApiTime(value, zone) : value;
    }
    navigate(listUrl(kind, { ...filters, ...change }));
    close();
  };
  const within = (hours: number) => {
    const field = kind === 'tasks' ? 'created_from' : 'finished_from';
    navigate(listUrl(kind, { ...filters, [field]: new Date(now() - hours * 3_600_000).toISOString() }));
    close();
  };

  return (
    <form
      ref={form}
      className="more-filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div className="field" role="group" aria-label={t(kind === 'tasks' ? 'filter.created' : 'filter.finished')}>
        <span className="label">{t(kind === 'tasks' ? 'filter.created' : 'filter.finished')}</span>
        <div className="quick">
          {[1, 24, 24 * 7].map((hours) => (
            <Button key={hours} onClick={() => within(hours)}>
              {t(`filter.within.${hours}`)}
            </Button>
          ))}
        </div>
      </div>
      <Field label={t('filter.business_type')}>
        <input name="business_type" maxLength={255} defaultValue={filters.business_type} />
      </Field>
      <Field label={t('filter.business_id')}>
        <input name="business_id" maxLength={255} defaultValue={filters.business_id} />
      </Field>
      <Field label={t('filter.tag')}>
        <input name="tag" maxLength={255} defaultValue={filters.tag} />
      </Field>
      <Field label={t('filter.class')}>
        <select name="class" defaultValue={filters.class ?? ''}>
          <option value="">{t('filter.anyClass')}</option>
          {CLASSES.map((each) => (
            <option key={each} value={each}>
              {t(`class.${each}`)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t('filter.attempts_from')}>
        <input name="attempts_from" type="number" min={1} max={1_000_000} defaultValue={filters.attempts_from} />
      </Field>
      {kind === 'tasks' && (
        <Field label={t('filter.owner')}>
          <input name="owner" maxLength={255} defaultValue={filters.owner} />
        </Field>
      )}
      {times.map((name) => (
        <Field key={name} label={t(`filter.${name}`)}>
          <input type="datetime-local" step="1" name={name} defaultValue={toLocalInput(filters[name] ?? '', zone)} />
        </Field>
      ))}
      {kind === 'history' && (
        <label className="check">
          <input type="checkbox" name="requeued" value="true" defaultChecked={filters.requeued === 'true'} />
          {t('filter.requeued')}
        </label>
      )}
      <p className="quiet-text">{t('filter.zone', { zone })}</p>
      <Button kind="primary" type="submit">
        {t('filter.apply')}
      </Button>
    </form>
  );
}

function Chips(props: BarProps) {
  const { t, i18n } = useTranslation();
  const zone = zoneName(usePrefs().zone);
  const change = useChange(props);
  const names = FILTER_NAMES[props.kind].filter((name) => props.filters[name]);
  if (names.length === 0) return null;
  const shown = (name: FilterName) => {
    const value = props.filters[name]!;
    if (isTime(name)) return absolute(value, i18n.language, zone);
    if (name === 'state') return t(`state.${value}`);
    if (name === 'outcome') return t(`outcome.${value}`);
    if (name === 'class') return t(`class.${value}`);
    return name === 'requeued' ? t('common.yes') : value;
  };
  return (
    <ul className="chips" aria-label={t('filter.active')}>
      {names.map((name) => (
        <li key={name}>
          <span className="chip-name">{t(`filter.${name}`)}</span> <bdi>{shown(name)}</bdi>
          <button
            type="button"
            aria-label={t('filter.remove', { name: t(`filter.${name}`) })}
            onClick={() => change({ [name]: '' })}
          >
            <X className="icon small" aria-hidden />
          </button>
        </li>
      ))}
      {names.length > 1 && (
        <li className="clear">
          <button type="button" onClick={() => navigate(listUrl(props.kind))}>
            {t('filter.clear')}
          </button>
        </li>
      )}
    </ul>
  );
}
