import type { Outbound } from '#platform/outbound.ts';
import type { Pictures } from '#platform/pictures.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';
import type { PicturedItem } from './local.ts';
import type { Settling } from './settle.ts';

/** One run of a job that looks for pictures. */
export interface Fetching {
  work: Work;
  pictures: Pictures;
  settling: Settling;
  outbound?: Outbound;
}

/** The item, unless it is gone or in the trash. */
export async function picturedItem({ db }: Work, id: string): Promise<PicturedItem | undefined> {
  const [row] = await rowsOf<PicturedItem>(
    db,
    'select id, library_id, type, title, parent_id, local_artwork from items where id = ? and trashed_at is null',
    [id],
  );
  return row;
}
