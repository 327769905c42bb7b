// Types of daemon.mjs.
export interface Stored {
  id: string;
  key: string;
}
export class Daemon {
  static start(): Promise<Daemon>;
  readonly url: string;
  readonly page: string;
  readonly token: string;
  readonly folder: string;
  run(): Promise<void>;
  stop(): Promise<void>;
  end(): Promise<void>;
  tokenFor(role: string, namespace?: string): string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  submit(task: Record<string, unknown>): Promise<Stored>;
  work(handler: string, judge: (task: any) => Record<string, unknown> | undefined, max?: number): Promise<number>;
}
export const program: string;
