// What a rule would record, and its changes.
import type { RecordingRule } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { readAgain } from './recorder.ts';
import { bodyOf, changeOf, type RuleForm } from './rule-form.ts';

const MINUTE = 60_000;

/** The preview of a new rule, or of the change of one, whose own recordings are no duplicates. */
export const previewOf = (form: RuleForm, id: string | undefined) => {
  const body = { ...bodyOf(form), dryRun: true };
  const change = { ...changeOf(form), dryRun: true };
  return {
    queryKey: id === undefined ? ['createRecordingRule', body] : ['updateRecordingRule', id, change],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      id === undefined
        ? api.createRecordingRule({ body, signal })
        : api.updateRecordingRule({ params: { id }, body: change, signal }),
    staleTime: MINUTE,
    retry: false,
  };
};

export async function saveRule(form: RuleForm, id: string | undefined): Promise<void> {
  if (id === undefined) await api.createRecordingRule({ body: bodyOf(form) });
  else await api.updateRecordingRule({ params: { id }, body: changeOf(form) });
  await readAgain();
}

export async function switchRule({ id, enabled }: RecordingRule): Promise<void> {
  await api.updateRecordingRule({ params: { id }, body: { enabled: !enabled } });
  await readAgain();
}

export async function deleteRule(id: string): Promise<void> {
  await api.deleteRecordingRule({ params: { id } });
  await readAgain();
}
