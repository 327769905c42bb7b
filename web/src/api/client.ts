// Requests to the daemon that served the page. URLs are relative, so a path prefix of a proxy stays.
import { hearServerTime } from '../lib/time';

// A refusal of the daemon, or status 0 if it could not be reached.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = '',
    readonly requestId = '',
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }

  // The path does not exist on this daemon, as opposed to a task that does not.
  get missingEndpoint(): boolean {
    return (this.status === 404 && this.message.startsWith('there is nothing at ')) || this.status === 405;
  }
}

let csrf = '';
let namespace = '';
let loggedOut: () => void = () => {};

export function setCsrf(token: string): void {
  csrf = token;
}
export function setNamespace(name: string): void {
  namespace = name;
}
export function getNamespace(): string {
  return namespace;
}
// Called when a request was refused because the session has ended.
export function onLoggedOut(listener: () => void): void {
  loggedOut = listener;
}

export async function problemOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('X-Request-Id') ?? '';
  const retryAfterMs = 1000 * Number(response.headers.get('Retry-After') ?? 0) || 0;
  try {
    const { error } = await response.json();
    return new ApiError(response.status, error.code, error.message, error.hint, error.request_id ?? requestId, retryAfterMs);
  } catch {
    return new ApiError(response.status, 'unexpected', `${response.status} ${response.statusText}`, '', requestId, retryAfterMs);
  }
}

// Sends, and throws an ApiError for anything but success.
export async function send(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set('X-CSRF-Token', csrf);
  if (namespace) request.headers.set('easyretry-namespace', namespace);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'unreachable');
  }
  hearServerTime(response.headers.get('easyretry-time'));
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && !request.url.endsWith('/v1/session')) loggedOut();
  throw problem;
}

export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await send(new Request(`.${path}`, { signal: signal ?? null }))).text();
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(new Request(`.${path}`, { signal: signal ?? null }))).json();
}

export function postJson<T>(path: string, body: unknown): Promise<T> {
  return postText(path, JSON.stringify(body));
}

// JSON as text: numbers in it keep all their digits.
export async function postText<T>(path: string, json: string): Promise<T> {
  const request = new Request(`.${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: json });
  return (await send(request)).json();
}
