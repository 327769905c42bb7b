// The queries of the first page. Each card has a query of its own, so one that fails or is slow leaves the others alone.
import { QueryClient, keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ListKind } from '../lib/filters';
import { ofNamespace, parseMetrics } from '../lib/metrics';
import { ended } from '../lib/series';
import { ApiError, getJson, getNamespace, getText } from './client';
import type { Circuit, Cluster, Doctor, ErrorGroups, Handler, Limit, Series } from './contract';

// Changes are told by events (see events.ts); the intervals here are for values that change with time alone.
export const SLOW = 30_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      refetchOnWindowFocus: true,
      // Repeated only where it may help, and never before the daemon wants it.
      retry: (failures, error) => error instanceof ApiError && (error.status === 0 || error.status >= 500) && failures < 2,
      retryDelay: (failures, error) => Math.max((error as ApiError).retryAfterMs ?? 0, 500 * 2 ** failures),
    },
    mutations: { retry: false }, // a change is sent once
  },
});

export function useDoctor() {
  return useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => getJson<Doctor>('/v1/doctor', signal),
    refetchInterval: 15_000,
  });
}

export type Step = '10s' | '1m';

export function useSeries(step: Step, handler = '') {
  const search = new URLSearchParams({ step, ...(handler && { handler }) });
  return useQuery({
    queryKey: ['series', step, handler],
    queryFn: ({ signal }) => getJson<Series>(`/v1/series?${search}`, signal),
    select: ended,
    refetchInterval: step === '10s' ? 10_000 : 60_000,
    placeholderData: keepPreviousData,
  });
}

export function useHandlers() {
  return useQuery({
    queryKey: ['changing', 'handlers'],
    queryFn: async ({ signal }) => (await getJson<{ handlers: Handler[] }>('/v1/handlers', signal)).handlers,
    refetchInterval: SLOW,
  });
}

export function useCircuits() {
  return useQuery({
    queryKey: ['changing', 'circuits'],
    queryFn: async ({ signal }) => (await getJson<{ circuits: Circuit[] }>('/v1/circuits', signal)).circuits,
    refetchInterval: (query) => (query.state.data?.some((circuit) => circuit.state === 'open' || circuit.order || circuit.retries_held_since) ? 2_000 : SLOW),
  });
}

export function useLimits() {
  return useQuery({
    queryKey: ['changing', 'limits'],
    queryFn: async ({ signal }) => (await getJson<{ limits: Limit[] }>('/v1/limits', signal)).limits,
    refetchInterval: (query) => (query.state.data?.some((limit) => limit.holds_since) ? 5_000 : SLOW),
  });
}

export function useCluster() {
  return useQuery({
    queryKey: ['changing', 'cluster'],
    queryFn: ({ signal }) => getJson<Cluster>('/v1/cluster', signal),
    refetchInterval: 10_000,
  });
}

export function useMetrics() {
  return useQuery({
    queryKey: ['metrics'],
    queryFn: async ({ signal }) => ofNamespace(parseMetrics(await getText('/metrics', signal)), getNamespace()),
    refetchInterval: 10_000,
  });
}

export function useNamespaces(enabled: boolean) {
  return useQuery({
    queryKey: ['namespaces'],
    queryFn: async ({ signal }) => {
      const answer = await getJson<{ namespaces: (string | { name: string })[] }>('/v1/namespaces', signal);
      return answer.namespaces.map((each) => (typeof each === 'string' ? each : each.name));
    },
    enabled,
    staleTime: SLOW,
  });
}

export function useErrors(of: ListKind, handler = '', from = '', limit = 100) {
  const search = new URLSearchParams({ of, limit: String(limit), ...(handler && { handler }), ...(from && { from }) });
  const key = ['errors', of, handler, from, limit];
  // The first answer comes soon. If it is of the newest failures only, the whole one follows.
  const soon = useQuery({
    queryKey: [...key, 'soon'],
    queryFn: ({ signal }) => getJson<ErrorGroups>(`/v1/errors?${search}&within_ms=150`, signal),
    refetchInterval: (query) => (query.state.data?.complete ? SLOW : false),
    placeholderData: keepPreviousData,
  });
  const enough = soon.data?.complete === true && !soon.isPlaceholderData;
  const whole = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => getJson<ErrorGroups>(`/v1/errors?${search}`, signal),
    enabled: soon.isFetched && !enough,
    refetchInterval: SLOW,
    placeholderData: (before) => before ?? soon.data,
  });
  return !enough && (whole.data || whole.isError) ? whole : soon;
}
