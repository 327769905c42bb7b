// Live tasks or history: newest first, in pages by id. While rows are selected, or the reader has scrolled or loaded
// older ones, the rows stay where they are and a button tells of newer tasks.
import { ArrowUp, Inbox, SearchX } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearch } from 'wouter';
import { pageOf, useTaskList } from '../../api/more-queries';
import { queryClient } from '../../api/queries';
import { listUrl, parseFilters, toSearch, type ListKind } from '../../lib/filters';
import { usePrefs } from '../../lib/prefs';
import { useChanges, useRegularly } from '../../shell/live';
import { useSession } from '../../shell/session';
import { Button, Empty, PageHead, Segments, TextLink } from '../../ui/basics';
import { Problem, Skeleton } from '../../ui/card';
import { full } from '../../lib/numbers';
import { navigate } from '../../lib/location';
import { ColumnChooser, useColumns } from './columns';
import { FilterBar } from './filter-bar';
import { SelectionBar } from './selection-bar';
import { TaskTable } from './task-table';

const MOST_SEARCHES = 20;
const EVERY_MS = 10_000;
const EVERY_SEARCH_MS = 120_000; // a search without an index costs the daemon up to 150 ms

export default function ListPage({ kind }: { kind: ListKind }) {
  const search = useSearch();
  const filters = useMemo(() => parseFilters(search, kind), [search, kind]);
  // Another list is another page: nothing selected, nothing scrolled.
  return <List key={`${kind}?${toSearch(filters)}`} kind={kind} filters={filters} />;
}

function List({ kind, filters }: { kind: ListKind; filters: ReturnType<typeof parseFilters> }) {
  const { t, i18n } = useTranslation();
  const { may } = useSession();
  const { pageSize } = usePrefs();
  const columns = useColumns(kind);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const query = useTaskList(kind, filters, pageSize);
  const tasks = useMemo(() => query.data?.pages.flatMap((page) => page.tasks) ?? [], [query.data]);
  const looked = query.data?.pages.reduce((sum, page) => sum + (page.scanned ?? 0), 0) ?? 0;
  useSearchOn(query, tasks.length);
  const newer = useNewer(kind, filters, query, tasks[0]?.id, selected.size > 0);

  const select = (ids: string[], on: boolean) => {
    const changed = new Set(selected);
    for (const id of ids) on ? changed.add(id) : changed.delete(id);
    setSelected(changed);
  };
  useEffect(() => {
    const escape = (event: KeyboardEvent) =>
      event.key === 'Escape' && !document.querySelector('dialog[open]') && setSelected(new Set());
    addEventListener('keydown', escape);
    return () => removeEventListener('keydown', escape);
  }, []);

  const operates = may('operate');
  return (
    <>
      <PageHead title={t(`list.${kind}`)}>
        <Segments
          label={t('list.which')}
          value={kind}
          options={[
            { value: 'tasks', text: t('list.tasks') },
            { value: 'history', text: t('list.history') },
          ]}
          onChange={(other) => navigate(listUrl(other, filters.handler ? { handler: filters.handler } : {}))}
        />
        <ColumnChooser kind={kind} />
      </PageHead>
      <FilterBar kind={kind} filters={filters} />
      {operates && (
        <SelectionBar
          kind={kind}
          filters={filters}
          empty={tasks.length === 0}
          selected={selected}
          clear={() => setSelected(new Set())}
        />
      )}
      {newer && (
        <button type="button" className="newer" onClick={newer}>
          <ArrowUp className="icon small" aria-hidden />
          {t('list.newer')}
        </button>
      )}
      {query.isError && !query.data && <Problem error={query.error} onAgain={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={10} />}
      {query.data && tasks.length === 0 && !query.hasNextPage && <Nothing kind={kind} filtered={Object.keys(filters).length > 0} />}
      {tasks.length > 0 && (
        <TaskTable
          label={t(`list.${kind}`)}
          tasks={tasks}
          columns={columns}
          selectable={operates}
          selected={selected}
          onSelect={select}
        />
      )}
      {query.hasNextPage && (
        <div className="older">
          {tasks.length === 0 && <p className="strong">{t('list.noneYet')}</p>}
          {looked > 0 && <p className="quiet-text">{t('list.looked', { number: full(looked, i18n.language) })}</p>}
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t(looked > 0 ? 'list.goOn' : 'list.older')}
          </Button>
        </div>
      )}
    </>
  );
}

// A search without an index ends after 150 ms. Goes on by itself until something is found, for a few seconds at most.
function useSearchOn(query: ReturnType<typeof useTaskList>, found: number) {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const pages = data?.pages.length ?? 0;
  const goesOn = found === 0 && hasNextPage && !isFetching && !isError && pages < MOST_SEARCHES;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, pages, fetchNextPage]);
}

// Follows the head of the list. Returns what to call to see newer tasks, if there are some that are not shown.
function useNewer(
  kind: ListKind,
  filters: object,
  query: ReturnType<typeof useTaskList>,
  first: string | undefined,
  selecting: boolean,
) {
  const { pageSize } = usePrefs();
  const [waiting, setWaiting] = useState(false);
  const pages = query.data?.pages.length ?? 0;
  const refetch = query.refetch;

  const look = useCallback(() => {
    const still = !selecting && pages <= 1 && window.scrollY < 120 && !document.querySelector('dialog[open]');
    if (still) {
      void refetch();
      return;
    }
    void pageOf(kind, filters, 1, '')
      .then((page) => setWaiting(page.tasks[0] !== undefined && page.tasks[0].id !== first))
      .catch(() => undefined); // the next look will tell
  }, [selecting, pages, refetch, kind, filters, first]);
  useChanges(look);
  useRegularly(query.data?.pages.some((page) => page.scanned) ? EVERY_SEARCH_MS : EVERY_MS, look);

  if (!waiting) return undefined;
  return () => {
    setWaiting(false);
    window.scrollTo({ top: 0 });
    void queryClient.resetQueries({ queryKey: ['list', kind, filters, pageSize] });
  };
}

function Nothing({ kind, filtered }: { kind: ListKind; filtered: boolean }) {
  const { t } = useTranslation();
  if (filtered) {
    return (
      <Empty icon={SearchX} title={t('list.noMatch')}>
        <p>{t('list.noMatchText')}</p>
        <TextLink to={`/${kind}`}>{t('filter.clear')}</TextLink>
      </Empty>
    );
  }
  return (
    <Empty icon={Inbox} title={t(`list.empty.${kind}`)}>
      <p>{t(`list.emptyText.${kind}`)}</p>
      {kind === 'tasks' && <TextLink to="/history">{t('list.history')}</TextLink>}
    </Empty>
  );
}
