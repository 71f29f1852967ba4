// Recordings that play from their parts, because their file is not there yet.
import type { Db } from '../db.ts';
import type { ProbedStream } from '../media.ts';
import { rowsOf } from '../rows.ts';
import type { LiveSegment } from './segments.ts';

export interface Growing {
  id: string;
  channelId: string | null;
  /** It has all parts that will come. */
  isOver: boolean;
  /** As planned. */
  lengthMs: number;
}

const COLUMNS = `r.id, r.channel_id as "channelId", r.ended_at is not null as "isOver",
  case when r.ended_at is null
    then extract(epoch from coalesce(r.planned_to, r.end_at) - coalesce(r.planned_from, r.start_at)) * 1000
    else r.recorded_ms end::float8 as "lengthMs"`;

/** The recording of an item without a file. */
export async function findGrowing(db: Db, itemId: string): Promise<Growing | undefined> {
  const [row] = await rowsOf<Growing>(
    db,
    `select ${COLUMNS} from recordings r
      where r.item_id = ? and r.started_at is not null and r.state <> 'cancelled' and r.finished_at is null and r.cleared_at is null
      limit 1`,
    [itemId],
  );
  return row;
}

/** As findGrowing, also while sessions still play the parts of a recording whose file is there. */
export async function findRecorded(db: Db, id: string): Promise<Growing | undefined> {
  const [row] = await rowsOf<Growing>(
    db,
    `select ${COLUMNS} from recordings r where r.id = ? and r.state <> 'cancelled' and r.cleared_at is null`,
    [id],
  );
  return row;
}

/** What the tuner found in the broadcast of these parts, the latest of them that is known. */
export async function findFacts(db: Db, parts: readonly LiveSegment[]): Promise<ProbedStream[] | undefined> {
  const ids = [...new Set(parts.toReversed().map(({ streamId }) => streamId))].slice(0, 100);
  const [row] = await rowsOf<{ facts: ProbedStream[] }>(
    db,
    `select s.facts from unnest(?::uuid[]) with ordinality as p(id, at) join live_streams s on s.id = p.id
      where s.facts is not null order by p.at limit 1`,
    [ids],
  );
  return row?.facts;
}
