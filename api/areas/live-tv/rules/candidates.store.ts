// Programmes that a rule may take.
import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { parseFilter } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { programFields } from '../guide/program-fields.ts';
import { findShown, type ProgramRow, selectPrograms } from '../guide/programs.store.ts';
import { isRestricted } from '../guide/programs.view.ts';
import { parseMatch, ruleFields } from './rule-fields.ts';
import type { RuleRow } from './rules.store.ts';

/** How far ahead rules look. */
const AHEAD = `interval '14 days'`;
const MOST_READ = 1000;

export interface Candidate extends ProgramRow {
  channelId: string;
  owned: boolean;
}

type Wanted = Pick<RuleRow, 'match' | 'channel_ids' | 'skip_owned' | 'days' | 'from_time' | 'to_time'>;

/** Programmes of the next days that match, the earliest first, as the owner sees them. */
export async function findCandidates(
  db: Db,
  who: Principal,
  { rule, now, timeZone }: { rule: Wanted; now: Date; timeZone: string },
): Promise<Candidate[]> {
  const shown = await findShown(db, who, rule.channel_ids.length > 0 ? { channelIds: rule.channel_ids } : {});
  const channelOf = new Map(shown.toReversed().map(({ key, channelId }) => [key, channelId]));
  const query = selectPrograms(db, who).whereRaw('p.channel = any(?::bigint[])', [[...channelOf.keys()]]);
  void query.whereRaw(`p.end_at > now() and p.start_at > now() - interval '1 day' and p.start_at < now() + ${AHEAD}`);
  applyRules(query, parseMatch(rule.match), { fields: ruleFields, context: { who, now } });
  onlyAtTimes(query, rule, timeZone);
  const rows: ProgramRow[] = await query.orderBy('p.start_at').orderBy('p.id').limit(MOST_READ);
  const seen = rows.filter((row) => !isRestricted(who, row));
  const owned = rule.skip_owned ? await ownedOf(db, who, { rows: seen, now }) : new Set<string>();
  return seen.flatMap((row) => {
    const channelId = channelOf.get(row.channel);
    return channelId === undefined ? [] : [{ ...row, channelId, owned: owned.has(row.id) }];
  });
}

/** By the clock of the server; a window may go over midnight. */
function onlyAtTimes(query: Knex.QueryBuilder, { days, from_time: from, to_time: to }: Wanted, timeZone: string): void {
  if (days.length > 0) void query.whereRaw(`to_char(p.start_at at time zone ?, 'dy') = any(?)`, [timeZone, [...days]]);
  if (from === null && to === null) return;
  const [first, last] = [from ?? '00:00', to ?? '23:59'];
  const clock = `to_char(p.start_at at time zone ?, 'HH24:MI')`;
  if (first <= last) void query.whereRaw(`${clock} between ? and ?`, [timeZone, first, last]);
  else void query.whereRaw(`(${clock} >= ? or ${clock} <= ?)`, [timeZone, first, timeZone, last]);
}

/** Programmes that are in a library that the owner sees, or that were recorded. */
async function ownedOf(
  db: Db,
  who: Principal,
  { rows, now }: { rows: readonly ProgramRow[]; now: Date },
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const ids = rows.map(({ id }) => id);
  const query = selectPrograms(db, who).whereRaw('p.id = any(?::uuid[])', [ids]);
  applyRules(query, parseFilter('owned:eq:true', programFields), { fields: programFields, context: { who, now } });
  const inLibraries: ProgramRow[] = await query;
  const recorded = await rowsOf<{ id: string }>(
    db,
    `select p.id from guide_programs p where p.id = any(?::uuid[]) and p.episode_key is not null and exists (
       select from recordings r where r.episode_key = p.episode_key and r.state = 'completed')`,
    [ids],
  );
  return new Set([...inLibraries, ...recorded].map(({ id }) => id));
}
