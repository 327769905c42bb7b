// Actions on the selected tasks, or on all that match the filter.
import { Ban, CheckCheck, CircleX, RotateCcw, Zap, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LIVE_ACTIONS, type Action } from '../../api/actions';
import type { Filters, ListKind } from '../../lib/filters';
import { Button } from '../../ui/basics';
import { BulkDialog } from './bulk-dialog';
import { SelectionDialog } from './selection-dialog';

export const ACTION_ICONS: Record<Action, LucideIcon> = {
  retry: Zap,
  cancel: Ban,
  complete: CheckCheck,
  fail: CircleX,
  requeue: RotateCcw,
};

interface BarProps {
  kind: ListKind;
  filters: Filters;
  empty: boolean;
  selected: ReadonlySet<string>;
  clear: () => void;
}

export function SelectionBar({ kind, filters, empty, selected, clear }: BarProps) {
  const { t } = useTranslation();
  const [matching, setMatching] = useState(false);
  const [action, setAction] = useState<Action>();
  const [ids, setIds] = useState<string[]>([]);
  const actions: readonly Action[] = kind === 'tasks' ? LIVE_ACTIONS : ['requeue'];
  const some = selected.size > 0;

  const begin = (chosen: Action) => {
    setIds([...selected]); // those confirmed are those changed, whatever is clicked meanwhile
    setAction(chosen);
  };
  if (empty && !action) return null; // a dialog stays when what it does has emptied the list
  return (
    <div className={`selection-bar ${some || matching ? 'active' : ''}`}>
      <span className="selection-count" aria-live="polite">
        {matching ? t('bulk.allMatching') : some ? t('bulk.selected', { count: selected.size }) : t('bulk.nothing')}
      </span>
      {(some || matching) &&
        actions.map((each) => (
          <Button key={each} icon={ACTION_ICONS[each]} onClick={() => begin(each)}>
            {t(`action.${each}`)}
          </Button>
        ))}
      <span className="grow" />
      <Button kind="quiet" onClick={() => setMatching(!matching)} aria-pressed={matching}>
        {t(matching ? 'bulk.notAll' : 'bulk.chooseAll')}
      </Button>
      {some && !matching && (
        <Button kind="quiet" onClick={clear}>
          {t('bulk.clear')}
        </Button>
      )}
      {action && matching && <BulkDialog action={action} filters={filters} onClose={() => setAction(undefined)} />}
      {action && !matching && (
        <SelectionDialog
          action={action}
          ids={ids}
          onClose={(changed) => {
            setAction(undefined);
            if (changed) clear();
          }}
        />
      )}
    </div>
  );
}
