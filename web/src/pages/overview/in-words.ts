// A finding of the doctor in the language of the page. One that the page does not know stays in the daemon's words.
import type { TFunction } from 'i18next';
import type { DoctorCheck } from '../../api/contract';

export function inWords(check: DoctorCheck, t: TFunction): { check: string; what: string; todo: string } {
  const { code = 'unknown', values = {} } = check;
  return {
    check: t(`doctor.check.${check.check.replaceAll(' ', '_')}`, { defaultValue: check.check }),
    what: t(`doctor.what.${code}`, { ...values, defaultValue: check.what }),
    todo: check.todo && t(`doctor.todo.${code}`, { ...values, defaultValue: check.todo }),
  };
}
