// Changes of tasks. Each is sent once and never assumed: the page shows it when the daemon has confirmed it.
import type { TaskClass } from '../lib/classes';
import { postText } from './client';
import { api } from './typed';
import { queryClient } from './queries';
import type { Task } from './contract';

export const LIVE_ACTIONS = ['retry', 'cancel', 'complete', 'fail'] as const;
export type Action = (typeof LIVE_ACTIONS)[number] | 'requeue';

export interface ActionOptions {
  why?: string; // for fail
  untold?: boolean; // callbacks are not called
  args?: string; // for requeue: JSON, instead of the arguments of the task
  class?: TaskClass; // for requeue: instead of the class of the task
}

// The actions that the state of a task allows; the daemon decides again.
export function allowedActions(task: Task): Action[] {
  if (task.state === 'finished') return task.requeued_as ? [] : ['requeue'];
  if (task.stage !== 'run') return task.state === 'pending' ? ['retry'] : [];
  return task.state === 'pending' ? ['retry', 'cancel', 'complete', 'fail'] : ['cancel', 'complete', 'fail'];
}

// Arguments go as they were typed: a number that JavaScript cannot hold stays what it is.
export function requeueBody({ args, class: given }: ActionOptions): string {
  const members = [...(args ? [`"args":${args}`] : []), ...(given ? [`"class":"${given}"`] : [])];
  return `{${members.join(',')}}`;
}

// Returns the id of the task to look at afterwards: for requeue that of the new one.
export async function act(id: string, action: Action, options: ActionOptions = {}): Promise<string> {
  const path = { id };
  const query = options.untold ? { untold: true } : {};
  switch (action) {
    case 'retry':
      await api.POST('/v1/tasks/{id}/retry', { params: { path } });
      return id;
    case 'cancel':
      await api.POST('/v1/tasks/{id}/cancel', { params: { path, query } });
      return id;
    case 'complete':
      await api.POST('/v1/tasks/{id}/complete', { params: { path, query }, body: {} });
      return id;
    case 'fail':
      await api.POST('/v1/tasks/{id}/fail', { params: { path, query }, body: { why: options.why ?? '' } });
      return id;
    case 'requeue':
      return (await postText<{ id: string }>(`/v1/tasks/${id}/requeue`, requeueBody(options))).id;
  }
}

export function refreshTasks(): void {
  void queryClient.invalidateQueries({ queryKey: ['changing'] });
  void queryClient.invalidateQueries({ queryKey: ['list'] });
}

export interface Failure {
  id: string;
  error: unknown;
}

// Changes the tasks one after the other, four at a time; goes on after a refusal, and stops when `stopped` says so.
export async function actOnEach(
  ids: string[],
  action: Action,
  options: ActionOptions,
  progress: (done: number, failures: Failure[]) => void,
  stopped: () => boolean,
): Promise<void> {
  const waiting = [...ids];
  const failures: Failure[] = [];
  let done = 0;
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined && !stopped(); id = waiting.shift()) {
      try {
        await act(id, action, options);
      } catch (error) {
        failures.push({ id, error });
      }
      progress(++done, [...failures]);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  refreshTasks();
}
