// Classes of tasks: who is served first. The API leaves the class out of a normal task.

export const CLASSES = ['urgent', 'normal', 'background'] as const;
export type TaskClass = (typeof CLASSES)[number];

export function classOf(task: { class?: 'urgent' | 'background' | undefined }): TaskClass {
  return task.class ?? 'normal';
}
