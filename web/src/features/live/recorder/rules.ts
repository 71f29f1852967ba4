// What a rule would record, and its changes.
import type { RecordingRule } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { readAgain } from './recorder.ts';
import { bodyOf, type RuleForm } from './rule-form.ts';

const MINUTE = 60_000;

export const previewOf = (form: RuleForm) => {
  const body = { ...bodyOf(form), dryRun: true };
  return {
    queryKey: ['createRecordingRule', body] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) => api.createRecordingRule({ body, signal }),
    staleTime: MINUTE,
    retry: false,
  };
};

export async function saveRule(form: RuleForm, id: string | undefined): Promise<void> {
  if (id === undefined) await api.createRecordingRule({ body: bodyOf(form) });
  else await api.updateRecordingRule({ params: { id }, body: bodyOf(form) });
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
