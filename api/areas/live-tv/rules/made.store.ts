// Recordings that rules read and write.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { toAiring } from '../recordings/airing.ts';
import { insertRecording, OPEN_STATES, type RecordingRow } from '../recordings/recordings.store.ts';
import { SHOWN } from '../schedule/follow.store.ts';
import type { Candidate } from './candidates.store.ts';
import { episodeOf } from './identity.ts';
import type { RuleRow } from './rules.store.ts';

type Kept = 'id' | 'program_id' | 'rule_id' | 'account_id' | 'library_id' | 'state' | 'by_hand' | 'created_at';

export interface Known extends Pick<RecordingRow, Kept> {
  episode: string | undefined;
  /** Planned or running. */
  isOpen: boolean;
  /** It has a slot and its time has come. */
  hasBegun: boolean;
  /** Its programme is gone from the guide. */
  isGone: boolean;
}

/** For one rule. */
export interface SeenKnown extends Known {
  /** The owner of the rule sees its library, or made it. */
  isVisible: boolean;
}

const COLUMNS = `r.id, r.program_id, r.rule_id, r.account_id, r.library_id, r.state, r.by_hand, r.created_at, r.episode_key,
  r.series_key, r.title, r.season_number, r.episode_number, r.original_air_date::text as original_air_date`;

type Found = Pick<RecordingRow, Kept> & Parameters<typeof episodeOf>[0] & { begun: boolean; gone: boolean };

/** All planned and running recordings, and ended ones of the same airings and episodes. */
export async function findKnown(db: Db, candidates: readonly Candidate[]): Promise<Known[]> {
  const keyless = candidates.filter((one) => one.episode_key === null && episodeOf(one) !== undefined);
  const rows = await rowsOf<Found>(
    db,
    `select ${COLUMNS}, (r.state = 'scheduled' and coalesce(r.planned_from, r.start_at - r.start_pad_ms * interval '1 millisecond') <= now() + interval '1 minute') as begun,
            r.program_id is not null and not ${SHOWN} as gone
       from recordings r where r.state = any(?)
     union all
     select ${COLUMNS}, false, false from recordings r where r.state <> all(?) and r.id in (
       select id from recordings where program_id = any(?::uuid[])
       union all select id from recordings where episode_key = any(?) and state = 'completed'
       union all select id from recordings where title = any(?) and episode_key is null and state = 'completed')`,
    [
      ...[[...OPEN_STATES], [...OPEN_STATES], candidates.map(({ id }) => id)],
      [...new Set(candidates.flatMap((one) => one.episode_key ?? []))],
      [...new Set(keyless.map(({ title }) => title))],
    ],
  );
  return rows.map(({ begun, gone, ...row }) => {
    const isOpen = OPEN_STATES.some((state) => state === row.state);
    return { ...row, episode: episodeOf(row), isOpen, hasBegun: begun, isGone: gone };
  });
}

type Options = Pick<
  RecordingRow,
  'account_id' | 'start_pad_ms' | 'end_pad_ms' | 'priority' | 'library_id' | 'folder_id' | 'keep_days'
>;

/** What each recording has of its rule. */
const optionsOf = (rule: RuleRow): Options => ({
  ...{ account_id: rule.account_id, start_pad_ms: rule.start_pad_ms, end_pad_ms: rule.end_pad_ms },
  ...{ priority: rule.priority, library_id: rule.library_id, folder_id: rule.folder_id, keep_days: rule.keep_days },
});

/** The planned recordings of a rule get its present options; those that a person changed keep theirs. */
async function putOptions(db: Db, rule: RuleRow): Promise<void> {
  const options = optionsOf(rule);
  await db('recordings')
    .where({ rule_id: rule.id, by_hand: false })
    .whereIn('state', ['scheduled', 'conflict'])
    .whereRaw(
      `(account_id, start_pad_ms, end_pad_ms, priority, library_id, folder_id, keep_days)
         is distinct from (?::uuid, ?::int, ?::int, ?::int, ?::uuid, ?::uuid, ?::int)`,
      Object.values(options),
    )
    .update({ ...options, updated_at: db.fn.now() });
}

interface Making {
  /** Planned recordings that the rule may change. */
  own: readonly Known[];
  chosen: readonly Candidate[];
  /** Those whose programme is gone stay at their old times. */
  keepsGone: boolean;
}

/** Makes the planned recordings of a rule those of the chosen airings. A recording goes along when its episode takes another airing. */
export async function putChosen(db: Db, rule: RuleRow, { own, chosen, keepsGone }: Making): Promise<void> {
  const programs = new Set(chosen.map(({ id }) => id));
  const left = own.filter((row) => !programs.has(row.program_id ?? ''));
  const has = new Set(own.map((row) => row.program_id));
  const wanted = chosen.filter(({ id }) => !has.has(id));
  const moves = wanted.flatMap((one) => {
    const row = left.find((other) => other.episode !== undefined && other.episode === episodeOf(one));
    return row ? [{ row, one }] : [];
  });
  const moved = new Set(moves.map(({ row }) => row));
  const removed = left.filter((row) => !moved.has(row) && !(keepsGone && row.isGone)).map(({ id }) => id);
  await db('recordings').whereIn('id', removed).delete();
  await release(
    db,
    moves.map(({ row }) => row.id),
  );
  for (const { row, one } of moves)
    await db('recordings')
      .where({ id: row.id })
      .update({ ...airingOf(one), state_reason: null, updated_at: db.fn.now() });
  const known = new Set(moves.map(({ one }) => one));
  for (const one of wanted)
    if (!known.has(one)) await insertRecording(db, { ...airingOf(one), ...optionsOf(rule), rule_id: rule.id });
  await putOptions(db, rule);
}

/** An airing has one planned recording, also while two of them change places. */
async function release(db: Db, ids: readonly string[]): Promise<void> {
  await db('recordings')
    .whereIn('id', [...ids])
    .update({ program_id: null });
}

const airingOf = (one: Candidate) => toAiring(one, { id: one.channelId, name: one.channelName });
