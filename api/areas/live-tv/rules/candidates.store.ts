// Programmes that a rule may take.
import type { Knex } from 'knex';
import { applyRules } from '#kernel/filter-sql.ts';
import type { Db } from '#platform/db.ts';
import { onlyUnrestricted } from '../guide/guide.ts';
import { ownedSql } from '../guide/program-fields.ts';
import { onlyInWindow, type ProgramRow, selectPrograms } from '../guide/programs.store.ts';
import { onlyInHours } from './hours.ts';
import type { Owner } from './owner.ts';
import { parseMatch, ruleFields } from './rule-fields.ts';
import type { RuleRow } from './rules.store.ts';

/** How far ahead rules look. */
const AHEAD_MS = 14 * 86_400_000;
const MOST_READ = 1000;

export interface Candidate extends ProgramRow {
  channelId: string;
  channelName: string;
  /** A library that the owner sees has it. */
  owned: boolean;
}

export interface Clocked {
  now: Date;
  /** Of the server. */
  timeZone: string;
}

/** Programmes of the next days that match, the earliest first, as the owner sees them. */
export async function findCandidates(
  db: Db,
  rule: RuleRow,
  { owner, ...clocked }: { owner: Owner } & Clocked,
): Promise<Candidate[]> {
  const own = owner.channels.filter(({ id }) => rule.channel_ids.length === 0 || rule.channel_ids.includes(id));
  const channelOf = new Map(own.toReversed().map((channel) => [channel.key, channel]));
  const rows = await candidateRows(db, rule, { owner, keys: [...channelOf.keys()], ...clocked });
  return rows.flatMap((row) => {
    const channel = channelOf.get(row.channel);
    return channel ? [{ ...row, channelId: channel.id, channelName: channel.name }] : [];
  });
}

interface Seeking extends Clocked {
  owner: Owner;
  keys: readonly number[];
}

/** One statement. Its search is a part of its own, so that the order and the limit do not lead Postgres to read the guide by time. */
export function candidateRows(
  db: Db,
  rule: RuleRow,
  { owner: { who }, keys, now, timeZone }: Seeking,
): Knex.QueryBuilder<object, (ProgramRow & { owned: boolean })[]> {
  const found = db
    .from('guide_programs as p')
    .joinRaw('join guide_titles t on t.id = p.title')
    .whereRaw('p.channel = any(?::bigint[])', [[...keys]])
    .select('p.*') as unknown as Knex.QueryBuilder;
  onlyInWindow(found, { from: now, to: new Date(now.getTime() + AHEAD_MS) });
  onlyUnrestricted(found, { who });
  onlyInHours(found, rule, timeZone);
  const context = { who, now, ruleId: rule.id };
  applyRules(found, parseMatch(rule.match), { fields: ruleFields, context });
  const owned = rule.skip_owned ? ownedSql(db, who) : db.raw('false');
  return selectPrograms(db, who)
    .withMaterialized('found', found)
    .from('found as p')
    .select(db.raw('? as owned', [owned]))
    .orderBy('p.start_at')
    .orderBy('p.id')
    .limit(MOST_READ) as never;
}
