import { indexField, purgeValues } from '#areas/custom-fields/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from './work.ts';

/** Handler of job `custom-field.index`: afterwards lists may be sorted by the field. */
export async function indexCustomField({ fieldId }: JobPayload<'custom-field.index'>, { db }: Work): Promise<void> {
  await indexField(db, fieldId);
}

/** Handler of job `custom-field.purge`: removes a field that is still deleted, in batches. It may be stopped at any time. */
export async function purgeCustomField(
  { fieldId }: JobPayload<'custom-field.purge'>,
  { db, signal }: Work,
): Promise<void> {
  while (!signal.aborted && (await purgeValues(db, fieldId)));
}
