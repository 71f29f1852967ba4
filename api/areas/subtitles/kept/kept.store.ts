// Texts that the server keeps itself: fetched from a provider, or generated from speech.
import { createHash } from 'node:crypto';
import { insertKeptStream, type KeptStream } from '#areas/libraries/public.ts';
import { keptKey } from '#areas/streaming/public.ts';
import type { Db } from '#platform/db.ts';
import type { Objects } from '#platform/objects.ts';
import type { Row } from '#platform/typed-query.ts';

export type KeptRow = Row<'kept_subtitles'>;

const CODECS = { srt: 'subrip', vtt: 'webvtt', ass: 'ass' } as const;

/** A text in UTF-8, as it is stored. */
export interface KeptText {
  bytes: Buffer;
  format: keyof typeof CODECS;
  cueCount: number;
}

export interface Keeping extends Omit<KeptStream, 'codec'> {
  accountId: string | null;
  origin:
    | { source: 'fetched'; provider: string; providerFile: string; release: string }
    | { source: 'generated'; model: string; task: 'transcribe' | 'translate' };
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Stores the bytes of a text. Call it before the transaction that adds its row: the sweep removes bytes without a row. */
export async function putKeptText(objects: Objects, { bytes }: KeptText): Promise<void> {
  await objects.put('foyer-subtitles', keptKey(sha256Of(bytes)), bytes);
}

/** Adds the track of a stored text to a file in the caller's transaction. Returns the id of the stream. */
export async function addKept(db: Db, text: KeptText, { accountId, origin, ...stream }: Keeping): Promise<string> {
  const id = await insertKeptStream(db, { ...stream, codec: CODECS[text.format] });
  await db('kept_subtitles').insert({
    ...{ stream_id: id, file_id: stream.fileId, source: origin.source, account_id: accountId },
    ...{ sha256: sha256Of(text.bytes), format: text.format, cue_count: text.cueCount },
    ...(origin.source === 'fetched'
      ? { provider: origin.provider, provider_file: origin.providerFile, release: origin.release }
      : { model: origin.model, task: origin.task }),
  });
  return id;
}

/** Rows of the kept texts of these files. */
export async function findKept(db: Db, fileIds: readonly string[]): Promise<KeptRow[]> {
  return db('kept_subtitles')
    .whereRaw('file_id = any(?::uuid[])', [[...fileIds]])
    .select('*');
}
