// Other arguments for the task that a requeue makes. They are edited and sent as text, so that numbers keep their digits.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { getText } from '../../api/client';
import type { Task } from '../../api/contract';
import { indent, rawMember } from '../../lib/json';
import { bytes } from '../../lib/numbers';
import { useSession } from '../../shell/session';
import { Loaded } from '../../ui/card';
import { Field } from '../../ui/dialog';

const LONGEST = 200_000; // characters that a text field edits without delay

// Why a text is not JSON; undefined if it is.
export function troubleWith(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

// A task whose arguments were removed is requeued only with new ones.
export function useArgumentsDraft(task: Task, requeues: boolean) {
  const { id } = task;
  const removed = requeues && task.args_removed === true;
  const [chosen, setOpen] = useState(false);
  const open = chosen || removed;
  const [edited, setEdited] = useState<string>();
  const stored = useQuery({
    queryKey: ['arguments', id],
    queryFn: ({ signal }) => getText(`/v1/tasks/${id}?args`, signal),
    select: (answer) => rawMember(answer, 'args') ?? 'null',
    enabled: open && !removed,
    staleTime: Infinity, // arguments do not change
    gcTime: 0,
  });
  const trouble = edited === undefined ? undefined : troubleWith(edited);
  return {
    removed,
    open,
    setOpen,
    edited,
    setEdited,
    stored,
    trouble,
    args: open ? edited : undefined, // arguments that were looked at and not changed are those of the task
    complete: !open || (trouble === undefined && (edited !== undefined || !removed)),
  };
}

type Draft = ReturnType<typeof useArgumentsDraft>;

export function ArgumentsEditor({ draft }: { draft: Draft }) {
  const { t } = useTranslation();
  const { may } = useSession();
  if (!may('payloads')) return draft.removed ? <p className="warn-text">{t('action.argumentsRemovedLocked')}</p> : null;
  if (draft.removed) {
    return (
      <>
        <p className="warn-text">{t('action.argumentsRemoved')}</p>
        <Editor draft={draft} text="" />
        <Trouble draft={draft} />
      </>
    );
  }
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={draft.open} onChange={(event) => draft.setOpen(event.target.checked)} />
        <span>
          {t('action.changeArguments')}
          <small>{t('action.changeArgumentsHint')}</small>
        </span>
      </label>
      {draft.open && (
        <Loaded query={draft.stored}>
          {(stored) =>
            stored.length > LONGEST ? (
              <p className="warn-text">{t('action.argumentsTooLong', { size: bytes(stored.length) })}</p>
            ) : (
              <Editor draft={draft} text={indent(stored)} />
            )
          }
        </Loaded>
      )}
      {draft.open && <Trouble draft={draft} />}
    </>
  );
}

function Editor({ draft, text }: { draft: Draft; text: string }) {
  const { t } = useTranslation();
  return (
    <Field label={t('action.arguments')}>
      <textarea
        className="mono"
        rows={12}
        dir="ltr"
        spellCheck={false}
        value={draft.edited ?? text}
        onChange={(event) => draft.setEdited(event.target.value)}
      />
    </Field>
  );
}

function Trouble({ draft }: { draft: Draft }) {
  const { t } = useTranslation();
  if (!draft.trouble) return null;
  return (
    <p className="bad-text" role="alert">
      {t('action.notJson', { why: draft.trouble })}
    </p>
  );
}
