// Requests to the daemon that served the page. URLs are relative, so a path prefix of a proxy stays.
import { hearServerTime } from '../lib/time';

const CSRF = 'X-CSRF-Token';
const NAMESPACE = 'easyretry-namespace';

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

// What refusals say about the session.
export interface SessionListener {
  ended: () => void;
  renew: () => Promise<void>; // the CSRF token was refused: asks the daemon who is logged in
  namespaceRefused: () => void;
}

let csrf = '';
let namespace = '';
let session: SessionListener = { ended: () => {}, renew: async () => {}, namespaceRefused: () => {} };

export function setCsrf(token: string): void {
  csrf = token;
}
export function setNamespace(name: string): void {
  namespace = name;
}
export function getNamespace(): string {
  return namespace;
}
export function onSession(listener: SessionListener): void {
  session = listener;
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

const ofSession = (request: Request) => new URL(request.url).pathname.endsWith('/v1/session');

// Hears what a refusal says about the session, and returns what to tell.
async function heard(problem: ApiError, request: Request): Promise<ApiError> {
  if (ofSession(request)) return problem;
  if (problem.status === 401) session.ended();
  if (problem.code === 'forbidden_namespace' && namespace && request.headers.get(NAMESPACE) === namespace) session.namespaceRefused();
  if (problem.code !== 'csrf') return problem;
  // Another tab has logged in again, and the cookie, which all tabs share, is of the new session. The change was refused, and it
  // is not sent again by itself: the other session may be another person's.
  const refused = request.headers.get(CSRF);
  await session.renew();
  return csrf && csrf !== refused ? new ApiError(403, 'session_renewed', problem.message, '', problem.requestId) : problem;
}

// Sends, and throws an ApiError for anything but success.
export async function send(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set(CSRF, csrf);
  if (namespace && !ofSession(request)) request.headers.set(NAMESPACE, namespace);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'unreachable');
  }
  hearServerTime(response.headers.get('easyretry-time'));
  if (response.ok) return response;
  throw await heard(await problemOf(response), request);
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
