// A finding of the doctor in the language of the page. One that the page does not know stays in the daemon's words.
import type { TFunction } from 'i18next';
import type { DoctorCheck } from '../../api/contract';
import { duration } from '../../lib/time';

type Values = Record<string, string>;

// "mail.send (22 min)", "crm.sync (since 3 min, 9 tasks: migration)"
function itemInWords(check: string, item: Values, t: TFunction): string {
  const values = { ...item, time: duration(Number(item.for_ms)) };
  switch (check) {
    case 'handlers':
      return t(item.did_you_mean ? 'doctor.item.unservedMeant' : 'doctor.item.unserved', values);
    case 'paused':
      return t(item.why ? 'doctor.item.pausedWhy' : 'doctor.item.paused', values);
    case 'circuits':
      return t(item.starts_per_second ? 'doctor.item.circuit' : 'doctor.item.circuitByHand', values);
    case 'limits':
      return t(item.kind === 'circuit' ? 'doctor.item.limitOfCircuit' : 'doctor.item.limitOfHandler', values);
    default:
      return t('doctor.item.late', values);
  }
}

function listInWords(check: string, items: Values[], more: string | undefined, t: TFunction): string {
  const list = items.map((item) => itemInWords(check, item, t)).join(t('doctor.item.comma'));
  return more ? t('doctor.item.more', { list, more }) : list;
}

function filledIn({ check, values = {}, items = [] }: DoctorCheck, t: TFunction): Values {
  return {
    ...values,
    items: listInWords(check, items.filter((item) => !item.group), values.more, t),
    others: listInWords(check, items.filter((item) => item.group), values.more_less_late, t),
    ...(values.above_ms && { above: duration(Number(values.above_ms)) }),
    ...(values.source && { source: t(`doctor.source.${values.source}`, { defaultValue: values.source }) }),
  };
}

export function inWords(check: DoctorCheck, t: TFunction): { check: string; what: string; todo: string } {
  const code = check.items ? (check.code ?? 'unknown') : 'unknown'; // an older daemon does not say the items
  const values = filledIn(check, t);
  return {
    check: t(`doctor.check.${check.check.replaceAll(' ', '_')}`, { defaultValue: check.check }),
    what: t(`doctor.what.${code}`, { ...values, defaultValue: check.what }),
    todo: check.todo && t(`doctor.todo.${code}`, { ...values, defaultValue: check.todo }),
  };
}
