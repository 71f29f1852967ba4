import { randomUUID } from 'node:crypto';
import { type FoundModel, saveModel } from '#areas/subtitles/speech/models.store.ts';
import type { Db } from '#platform/db.ts';

/** The word of a worker about the model `base`, which the setting chooses. */
export async function givenSpeechModel(db: Db, more: Partial<FoundModel> = {}): Promise<void> {
  await saveModel(db, {
    ...{ name: 'base', fault: '', device: 'cpu', compute_type: 'int8', sha256: 'f'.repeat(64), note: null },
    ...{ languages: ['en', 'de', 'no'], seconds_per_minute: 6 },
    ...more,
  });
}

/** A playback session in a state that lasts since so many seconds. */
export async function givenPlaying(
  db: Db,
  who: { accountId: string; profileId: string },
  film: { itemId: string; fileId: string; libraryId: string },
): Promise<string> {
  const id = randomUUID();
  await db('playback_sessions').insert({
    ...{ id, account_id: who.accountId, profile_id: who.profileId, library_id: film.libraryId },
    ...{
      item_id: film.itemId,
      file_id: film.fileId,
      state: 'playing',
      method: 'direct_play',
      decision: '{}',
      url: '/x',
    },
  });
  return id;
}
