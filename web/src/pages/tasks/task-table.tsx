// Rows of tasks. The row under j/k has the focus, so screen readers follow.
import { useTranslation } from 'react-i18next';
import type { Task } from '../../api/contract';
import { navigate } from '../../lib/location';
import type { Column } from './columns';
import { Link } from 'wouter';

interface TableProps {
  label: string;
  tasks: Task[];
  columns: Column[];
  selectable: boolean;
  selected: ReadonlySet<string>;
  onSelect: (ids: string[], on: boolean) => void;
}

export function TaskTable({ label, tasks, columns, selectable, selected, onSelect }: TableProps) {
  const { t } = useTranslation();
  const all = tasks.length > 0 && tasks.every((task) => selected.has(task.id));
  return (
    <div className="table-scroll">
      <table className="table rows" aria-label={label}>
        <thead>
          <tr>
            {selectable && (
              <th className="check">
                <input
                  type="checkbox"
                  aria-label={t('list.selectPage')}
                  checked={all}
                  ref={(box) => {
                    if (box) box.indeterminate = !all && selected.size > 0;
                  }}
                  onChange={() =>
                    onSelect(
                      tasks.map((task) => task.id),
                      !all,
                    )
                  }
                />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.name} className={column.className}>
                {t(`column.${column.name}`)}
              </th>
            ))}
            <th>
              <span className="unseen">{t('list.open')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <tr
              key={task.id}
              data-row={task.id}
              className={selected.has(task.id) ? 'selected' : ''}
              onClick={(event) => {
                if (!(event.target as Element).closest('a, button, input')) navigate(`/task/${task.id}`);
              }}
            >
              {selectable && (
                <td className="check">
                  <input
                    type="checkbox"
                    aria-label={t('list.select', { id: task.id })}
                    checked={selected.has(task.id)}
                    onChange={(event) => onSelect([task.id], event.target.checked)}
                  />
                </td>
              )}
              {columns.map((column) => (
                <td key={column.name} className={column.className} data-label={t(`column.${column.name}`)}>
                  {column.cell(task)}
                </td>
              ))}
              <td className="open">
                <Link href={`/task/${task.id}`} aria-label={t('list.openTask', { id: task.id })} data-row-link>
                  →
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
