import type { JobState } from './jobs.schemas.ts';

interface Judged {
  kind: string;
  state: JobState;
}

/** Kinds that their own areas begin again: a scan by Scanning, deliveries by Webhooks, backups by Backup. */
export const NOT_RETRIABLE: readonly string[] = ['library.scan', 'webhook.deliver', 'backup.create', 'backup.restore'];
const FINAL = ['completed', 'failed', 'cancelled'];

export const isRetriable = ({ kind, state }: Judged): boolean =>
  (state === 'failed' || state === 'cancelled') && !NOT_RETRIABLE.includes(kind);

export const isFinal = ({ state }: Pick<Judged, 'state'>): boolean => FINAL.includes(state);

/** What is being deleted is deleted to the end: half a library helps nobody, and what people left is theirs to be gone. */
const TO_THE_END: readonly string[] = ['library.delete', 'profile.purge', 'user.purge'];
export const isCancellable = (row: Judged): boolean => !isFinal(row) && !TO_THE_END.includes(row.kind);
