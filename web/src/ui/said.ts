// What an error says to a person: the daemon's own words, or that it does not answer. The daemon speaks English: for another
// language, the page has sentences for the codes that people meet here. What it has none for stays as it is.
import type { TFunction } from 'i18next';
import { ApiError } from '../api/client';

export function said(error: unknown, t: TFunction): string {
  if (error instanceof ApiError && error.status === 0) return t('common.unreachable');
  if (error instanceof ApiError && error.code === 'session_renewed') return t('login.renewed');
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof ApiError ? t(`refusal.${error.code}.said`, { message, defaultValue: message }) : message;
}

// What to do; may be empty.
export function hintOf({ code, hint }: ApiError, t: TFunction): string {
  return hint && t(`refusal.${code}.todo`, { defaultValue: hint });
}
