// The columns of the two lists, and the menu to choose them.
import { Columns3 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '../../api/contract';
import { classOf } from '../../lib/classes';
import type { ListKind } from '../../lib/filters';
import { setPrefs, usePrefs } from '../../lib/prefs';
import { Given } from '../../ui/basics';
import { CopyButton } from '../../ui/copy';
import { Dropdown } from '../../ui/dropdown';
import { ClassText } from '../../ui/class-text';
import { TaskBadge } from '../../ui/task-badge';
import { Time } from '../../ui/time';

export interface Column {
  name: string;
  className?: string;
  cell: (task: Task) => ReactNode;
}

const STATE: Column = { name: 'state', cell: (task) => <TaskBadge task={task} /> };
const HANDLER: Column = { name: 'handler', className: 'strong', cell: (task) => <Given text={task.handler} /> };
const KEY: Column = { name: 'key', className: 'mono', cell: (task) => <Given text={task.key} /> };
const ID: Column = {
  name: 'id',
  className: 'mono nowrap',
  cell: (task) => (
    <span>
      {task.id} <CopyId id={task.id} />
    </span>
  ),
};
const ATTEMPTS: Column = {
  name: 'attempts',
  className: 'number',
  cell: (task) => (
    <span>
      {task.attempts}
      <span className="quiet-text"> / {task.policy.max_attempts || '∞'}</span>
    </span>
  ),
};
const BUSINESS: Column = {
  name: 'business',
  cell: (task) => <Given text={[task.business_type, task.business_id].filter(Boolean).join(' ')} />,
};
const ERROR: Column = { name: 'error', className: 'wide', cell: (task) => task.last_error && <Given text={task.last_error} /> };
const TAGS: Column = { name: 'tags', cell: (task) => task.tags.length > 0 && <Tags tags={task.tags} /> };
const CLASS: Column = { name: 'class', className: 'nowrap', cell: (task) => <ClassText of={classOf(task)} /> };
const CREATED: Column = { name: 'created', className: 'nowrap', cell: (task) => <Time at={task.created_at} /> };
const NEXT: Column = { name: 'next', className: 'nowrap', cell: (task) => task.next_at && <Time at={task.next_at} /> };
const FINISHED: Column = {
  name: 'finished',
  className: 'nowrap',
  cell: (task) => task.finished_at && <Time at={task.finished_at} />,
};
const OWNER: Column = { name: 'owner', className: 'mono', cell: (task) => task.locked_by && <Given text={task.locked_by} /> };

function CopyId({ id }: { id: string }) {
  const { t } = useTranslation();
  return <CopyButton text={id} label={t('task.copyId')} />;
}

export function Tags({ tags }: { tags: string[] }) {
  return (
    <span>
      {tags.map((tag) => (
        <span className="tag" key={tag}>
          <Given text={tag} />
        </span>
      ))}
    </span>
  );
}

const COLUMNS: Record<ListKind, Column[]> = {
  tasks: [STATE, HANDLER, KEY, ATTEMPTS, NEXT, ERROR, CREATED, CLASS, BUSINESS, TAGS, OWNER, ID],
  history: [STATE, HANDLER, KEY, ATTEMPTS, FINISHED, ERROR, CREATED, CLASS, BUSINESS, TAGS, ID],
};
const FIRST: Record<ListKind, string[]> = {
  tasks: ['state', 'handler', 'key', 'attempts', 'next', 'error', 'created'],
  history: ['state', 'handler', 'key', 'attempts', 'finished', 'error'],
};

export function useColumns(kind: ListKind): Column[] {
  const chosen = usePrefs().columns[kind] ?? FIRST[kind];
  return COLUMNS[kind].filter((column) => column.name === 'state' || chosen.includes(column.name));
}

export function ColumnChooser({ kind }: { kind: ListKind }) {
  const { t } = useTranslation();
  const prefs = usePrefs();
  const chosen = prefs.columns[kind] ?? FIRST[kind];
  const toggle = (name: string) =>
    setPrefs({
      columns: {
        ...prefs.columns,
        [kind]: chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name],
      },
    });
  return (
    <Dropdown text={t('list.columns')} icon={Columns3}>
      {() => (
        <fieldset className="choices">
          <legend>{t('list.columns')}</legend>
          {COLUMNS[kind]
            .filter((column) => column.name !== 'state')
            .map((column) => (
              <label key={column.name}>
                <input type="checkbox" checked={chosen.includes(column.name)} onChange={() => toggle(column.name)} />
                {t(`column.${column.name}`)}
              </label>
            ))}
        </fieldset>
      )}
    </Dropdown>
  );
}
