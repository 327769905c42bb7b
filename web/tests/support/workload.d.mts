// Types of workload.mjs.
import type { Daemon } from './daemon.mjs';
export function task(handler: string, more?: Record<string, unknown>): Record<string, unknown>;
export function triedTask(handler: string, attempts: number, n: number): Record<string, unknown>;
export function round(daemon: Daemon, options?: { tasks?: number; share?: number }): Promise<void>;
export function prepare(daemon: Daemon): Promise<void>;
