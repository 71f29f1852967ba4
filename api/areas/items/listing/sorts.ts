import { createHash } from 'node:crypto';
import type { SortField, SortTable } from '#kernel/sort.ts';
import { detailNumber } from '../fields/field-sql.ts';
import { inOrder, type TitleOrder } from './title-order.ts';

const indexed = { indexed: true } as const;

const fixed = {
  // lists of libraries replace it by the order of their language
  title: { column: 'i.sort_title', type: 'text', ...indexed },
  addedAt: { column: 'i.added_at', type: 'timestamptz', ...indexed },
  releasedOn: { column: 'i.released_on', type: 'date', nullable: true, ...indexed },
  year: { column: 'i.year', type: 'int', nullable: true, ...indexed },
  rating: { column: 'i.rating', type: 'real', nullable: true, ...indexed },
  runtimeMs: { column: 'i.runtime_ms', type: 'bigint', nullable: true, ...indexed },
  index: { column: 'i.index_number', type: 'int', nullable: true, ...indexed },
  takenAt: { column: 'i.taken_at', type: 'timestamptz', nullable: true, ...indexed },
  sizeBytes: { column: 'i.size_bytes', type: 'bigint', ...indexed },
  lastPlayedAt: { column: 's.last_played_at', type: 'timestamptz', nullable: true, ...indexed },
  playCount: { column: 's.play_count', type: 'int', nullable: true, ...indexed },
  bitrate: { column: 'i.bitrate', type: 'bigint', nullable: true },
  progress: { column: 's.progress', type: 'real', nullable: true },
  tempoBpm: { column: detailNumber('features', 'tempo'), type: 'double precision', nullable: true },
  energy: { column: detailNumber('features', 'energy'), type: 'double precision', nullable: true },
  loudnessLufs: { column: detailNumber('features', 'loudness'), type: 'double precision', nullable: true },
  key: { column: `(i.details #>> '{features,key}')`, type: 'text', nullable: true },
  durationMs: { column: 'i.runtime_ms', type: 'bigint', nullable: true, ...indexed },
  remainingMs: {
    column: '(i.runtime_ms * (1 - coalesce(s.progress, 0)::double precision))',
    type: 'double precision',
    nullable: true,
  },
  lastStudiedAt: { column: 's.last_played_at', type: 'timestamptz', nullable: true, ...indexed },
} as const satisfies SortTable;

export type SortName = keyof typeof fixed | 'random';

const ALL = Object.keys(fixed) as (keyof typeof fixed)[];

const tables = new WeakMap<readonly SortName[], Map<string, SortTable>>();

/**
 * Sorts of an operation. `random` walks over one of four stored shuffles; day and profile decide which one and where it
 * starts.
 */
export function sortsOf(names: readonly SortName[], { profileId, day }: { profileId: string; day: string }): SortTable {
  const made = tables.get(names) ?? new Map<string, SortTable>();
  tables.set(names, made);
  const seed = `${day}|${profileId}`;
  const known = made.get(seed);
  if (known) return known;
  const field = (name: SortName): SortField => (name === 'random' ? shuffle(seed) : ofState(fixed[name], profileId));
  const table = Object.fromEntries(names.map((name) => [name, field(name)]));
  if (made.size >= 1000) made.clear();
  made.set(seed, table);
  return table;
}

/** Items without a state of the caller come last; a subquery finds them. */
function ofState(field: SortField, profileId: string): SortField {
  if (!/^s\.\w+$/.test(field.column) || profileId === '') return field;
  const sql = `not exists (select 1 from item_states n where n.item_id = i.id and n.profile_id = ?::uuid
    and ${field.column.replace(/^s/, 'n')} is not null)`;
  return { ...field, absent: { sql, bindings: [profileId] } };
}

function shuffle(seed: string): SortField {
  const digest = createHash('sha256').update(seed).digest();
  const start = Math.fround(digest.readUInt32BE(4) / 2 ** 32);
  return { column: `i.shuffle_${digest.readUInt8(0) % 4}`, type: 'real', start, ...indexed };
}

/** Sorts of a library's list. */
export const librarySorts: readonly SortName[] = [...ALL, 'random'];

const CHILD_STEP = 10_000_000;

/**
 * Order of children in a container: by season (disc, volume) and number, specials at the end. `inline` places a special
 * before the episode or season that it aired before.
 */
export function childOrder(inline: boolean): SortField {
  const own = `(coalesce(i.parent_index, 0)::bigint * ${CHILD_STEP} + coalesce(i.index_number, 900000) * 10)`;
  const last = `(1000000000000 + ${own})`;
  const aired = `(case when jsonb_typeof(i.airs_before -> 'season') = 'number' then (i.airs_before ->> 'season')::bigint * ${CHILD_STEP}
      + coalesce((i.airs_before ->> 'episode')::bigint, 0) * 10 - 5 else ${last} end)`;
  const special = `((i.type = 'episode' and i.parent_index = 0) or (i.type = 'season' and i.index_number = 0))`;
  return { column: `(case when ${special} then ${inline ? aired : last} else ${own} end)`, type: 'bigint' };
}

/** Albums by artist, then year: the default of music libraries. */
export const byArtist = (order: TitleOrder): SortField => ({
  column: `(select ${inOrder('a.sort_title', order)} from items a where a.id = i.parent_id)`,
  type: 'text',
  nullable: true,
  indexed: true,
});
