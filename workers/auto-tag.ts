import { z } from 'zod';
import { AutoTag } from '#areas/libraries/auto-tag/auto-tag.schemas.ts';
import { AutoTagger } from '#areas/libraries/auto-tag/auto-tag.ts';
import { principalOf } from '#identity/account-row.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { FinalFailure, type Work } from './work.ts';

const Checkpoint = z.object({ after: z.uuid(), examined: z.int(), matched: z.int(), applied: z.int() });
const BATCH = 500;

/** Examines the items of a library behind the first ones, each batch in a transaction with its checkpoint. */
export async function autoTag(
  { libraryId, after: first, accountId, ...body }: JobPayload<'library.auto-tag'>,
  work: Work,
): Promise<object> {
  const who = await principalOf(work.db, accountId);
  if (!who) throw new FinalFailure('NOT_FOUND', 'The account that requested it is gone');
  const tagger = await AutoTagger.of(work.db, { ...AutoTag.parse(body), libraryId, who });
  const begun = Checkpoint.safeParse(work.checkpoint).data;
  let { after, ...counts } = begun ?? { after: first, examined: 0, matched: 0, applied: 0 };
  for (;;) {
    work.signal.throwIfAborted();
    const last = await work.db.transaction(async (db) => {
      const batch = await tagger.next(db, after, BATCH);
      counts = {
        examined: counts.examined + batch.examined,
        matched: counts.matched + batch.matched,
        applied: counts.applied + batch.applied,
      };
      if (batch.last) await work.keep(db, { after: batch.last, ...counts }, { done: counts.examined, unit: 'items' });
      return batch.last;
    });
    if (last === undefined) return counts;
    after = last;
  }
}
