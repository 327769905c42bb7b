// The queries of the other pages: lists, single tasks, bulk jobs, tables.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Filters, ListKind } from '../lib/filters';
import { getJson } from './client';
import type { Alerts, AuditLog, Task, TokenInfo } from './contract';
import { SLOW } from './queries';
import { api } from './typed';

export interface Page {
  tasks: Task[];
  next?: string;
  scanned?: number; // tasks that were read for this page, if a filter has no index
}

export function pageOf(kind: ListKind, filters: Filters, limit: number, after: string, signal?: AbortSignal): Promise<Page> {
  const search = new URLSearchParams({ ...filters, order: 'newest', limit: String(limit), ...(after && { after }) });
  return getJson<Page>(`/v1/${kind}?${search}`, signal);
}

export function useTaskList(kind: ListKind, filters: Filters, limit: number) {
  return useInfiniteQuery({
    queryKey: ['list', kind, filters, limit],
    queryFn: ({ pageParam, signal }) => pageOf(kind, filters, limit, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false, // the page decides, so that rows do not move under the reader
  });
}

export function useTask(id: string) {
  return useQuery({
    queryKey: ['changing', 'task', id],
    queryFn: ({ signal }) => getJson<Task>(`/v1/tasks/${encodeURIComponent(id)}`, signal),
    refetchInterval: 10_000,
  });
}

export function useBulkJobs() {
  return useQuery({
    queryKey: ['changing', 'bulk'],
    queryFn: async ({ signal }) => (await api.GET('/v1/bulk', { signal })).data!.jobs,
    refetchInterval: (query) =>
      query.state.data?.some((job) => job.state === 'running' || job.state === 'waiting') ? 1_000 : SLOW,
  });
}

export function useBulkJob(id: string | undefined) {
  return useQuery({
    queryKey: ['bulk', id],
    queryFn: async ({ signal }) => (await api.GET('/v1/bulk/{id}', { params: { path: { id: id! } }, signal })).data!,
    enabled: id !== undefined,
    refetchInterval: (query) => (query.state.data && ['done', 'stopped', 'failed'].includes(query.state.data.state) ? false : 700),
  });
}

export function useTables(enabled: boolean) {
  return useQuery({
    queryKey: ['tables'],
    queryFn: async ({ signal }) => (await api.GET('/v1/tables', { signal })).data!.tables,
    refetchInterval: 60_000,
    enabled,
  });
}

export function useAlerts() {
  return useQuery({
    queryKey: ['changing', 'alerts'],
    queryFn: ({ signal }) => getJson<Alerts>('/v1/alerts', signal),
    refetchInterval: SLOW,
  });
}

export function useAudit(enabled: boolean) {
  return useQuery({
    queryKey: ['changing', 'audit'],
    queryFn: ({ signal }) => getJson<AuditLog>('/v1/audit', signal),
    refetchInterval: SLOW,
    enabled,
  });
}

export function useTokens(enabled: boolean) {
  return useQuery({
    queryKey: ['tokens'],
    queryFn: async ({ signal }) => (await getJson<{ tokens: TokenInfo[] }>('/v1/tokens', signal)).tokens,
    enabled,
  });
}
