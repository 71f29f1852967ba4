import type { JobState } from './jobs.schemas.ts';

interface Judged {
  kind: string;
  state: JobState;
}

/** Kinds that their own areas start again: scans by Scanning, deliveries by Webhooks, backups by Backup, speech by Subtitles. */
export const NOT_RETRIABLE: readonly string[] = [
  ...['library.scan', 'webhook.deliver', 'backup.create', 'backup.restore'],
  ...['subtitles.generate', 'subtitles.batch'],
];
const FINAL = ['completed', 'failed', 'cancelled'];

export const isRetriable = ({ kind, state }: Judged): boolean =>
  (state === 'failed' || state === 'cancelled') && !NOT_RETRIABLE.includes(kind);

export const isFinal = ({ state }: Pick<Judged, 'state'>): boolean => FINAL.includes(state);

/** A deletion runs to its end: a partly deleted library is useless, and a purge removes a person's data. */
const TO_THE_END: readonly string[] = ['library.delete', 'profile.purge', 'user.purge'];
export const isCancellable = (row: Judged): boolean => !isFinal(row) && !TO_THE_END.includes(row.kind);
