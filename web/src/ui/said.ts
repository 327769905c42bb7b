// What an error says to a person: the daemon's own words, or that it does not answer.
import type { TFunction } from 'i18next';
import { ApiError } from '../api/client';

export function said(error: unknown, t: TFunction): string {
  if (error instanceof ApiError && error.status === 0) return t('common.unreachable');
  if (error instanceof ApiError && error.code === 'session_renewed') return t('login.renewed');
  return error instanceof Error ? error.message : String(error);
}
