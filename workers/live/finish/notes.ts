// The checkpoint of the job that places a recording.
import { z } from 'zod';
import type { Db } from '#platform/db.ts';
import type { Work } from '#workers/work.ts';

const Kept = z.object({
  /** Unix ms of the first refusal. */
  since: z.number().optional(),
  /** Unix ms since which the file of a deleted recording waits for its item. */
  itemlessSince: z.number().optional(),
  /** The parts of an unfinished object, by its path in the storage. */
  parts: z.object({ path: z.string(), id: z.string() }).optional(),
  /** The file, written before it appears: by then another file may have its name. */
  file: z
    .object({
      /** Below the folder. */
      path: z.string(),
      size: z.number(),
      /** Absent on mounts. */
      sha256: z.string().optional(),
      /** The storage has the whole file. */
      appeared: z.boolean(),
    })
    .optional(),
});
export type Kept = z.output<typeof Kept>;
export type PlacedFile = NonNullable<Kept['file']>;

/** The checkpoint of one job. */
export class Notes {
  readonly #work: Work;
  kept: Kept;

  constructor(work: Work) {
    this.#work = work;
    this.kept = Kept.safeParse(work.checkpoint).data ?? {};
  }

  /** Writes the change, in the given transaction where there is one. */
  async keep(change: Kept, db: Db = this.#work.db): Promise<void> {
    this.kept = { ...this.kept, ...change };
    await this.#work.keep(db, this.kept);
  }
}
