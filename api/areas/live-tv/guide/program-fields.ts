// Fields by which programmes are filtered, and orders of their lists.
import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Condition } from '#kernel/filter.ts';
import {
  flag,
  folded,
  matchesAbsence,
  positive,
  related,
  type SqlField,
  scalar,
  type Where,
} from '#kernel/filter-sql.ts';
import type { SortTable } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';

/** Queries read `guide_programs as p` and `guide_titles as t`. */
export interface ProgramContext {
  who: Principal;
  now: Date;
  /** The rule that is applied: its own recordings do not count as recorded. */
  ruleId?: string | undefined;
}

type Query = Knex.QueryBuilder;
/** Enabled channels that show the programme. */
const shown = (inner: Query): void => {
  void inner
    .from('live_channels as fc')
    .joinRaw('join guide_channels fg on fg.source_id = fc.guide_source_id and fg.guide_id = fc.guide_channel_id')
    .whereRaw('fg.id = p.channel and fc.enabled');
};

const isTrue = ({ op, values }: Condition): boolean => (values[0] === 'true') === (op === 'eq');

const favorite: Where<ProgramContext> = (query, condition, { who }) => {
  const sub = (inner: Query): void => {
    shown(inner.select(inner.client.raw('1')));
    inner.whereRaw('exists (select from live_favorites v where v.channel_id = fc.id and v.profile_id = ?)', [
      who.profileId,
    ]);
  };
  if (isTrue(condition)) query.whereExists(sub);
  else query.whereNotExists(sub);
};

const onAir: Where<ProgramContext> = (query, condition, { now }) => {
  const time = now.toISOString();
  query.whereRaw(`${isTrue(condition) ? '' : 'not '}(p.start_at <= ?::timestamptz and p.end_at > ?::timestamptz)`, [
    time,
    time,
  ]);
};

/** The airing has a recording that was not cancelled. */
const recorded: Where<ProgramContext> = (query, condition, { ruleId = null }) => {
  query.whereRaw(
    `${isTrue(condition) ? '' : 'not '}exists (select from recordings x where x.program_id = p.id
       and x.state <> 'cancelled' and x.removed_at is null and (x.rule_id is null or x.rule_id is distinct from ?::uuid))`,
    [ruleId],
  );
};

const named = folded<ProgramContext>('named.folded');

/** The texts of the categories come first, so that an index over the lists of programmes finds them. */
const category: Where<ProgramContext> = (query, condition, context) => {
  if (condition.op === 'exists') {
    query.whereRaw(`cardinality(p.categories) ${condition.values[0] === 'true' ? '>' : '='} 0`);
    return;
  }
  const texts = query.client.queryBuilder().from('guide_categories as named').select('named.text') as Query;
  named(texts, positive(condition), context);
  query.whereRaw(`${matchesAbsence(condition) ? 'not ' : ''}p.categories && array(?)`, [texts]);
};

/** Items that the caller sees: films by title and year, episodes by the title of their show and their numbers. */
const ownedItems: readonly ((inner: Query, who: Principal) => void)[] = [
  (inner, who) =>
    void inner
      .from('items as own')
      .modify(onlyVisibleItems, who, 'own')
      .whereRaw(`p.kind = 'movie' and own.type = 'movie' and foyer_fold(own.title) = t.folded`)
      .whereRaw('(p.year is null or own.year is null or abs(own.year - p.year) <= 1)'),
  (inner, who) =>
    void inner
      .from('items as show')
      .join('items as own', 'own.grandparent_id', 'show.id')
      .modify(onlyVisibleItems, who, 'own')
      .whereRaw(`show.type = 'show' and foyer_fold(show.title) = t.folded and own.type = 'episode'`)
      .whereRaw('own.index_number = p.episode_number and own.parent_index = p.season_number'),
];

const owned: Where<ProgramContext> = (query, condition, { who }) => {
  const subs = ownedItems.map(
    (start) =>
      (inner: Query): void =>
        start(inner.select(inner.client.raw('1')), who),
  );
  if (isTrue(condition)) query.where((any: Query) => subs.forEach((sub) => void any.orWhereExists(sub)));
  else for (const sub of subs) query.whereNotExists(sub);
};

/** SQL: a library that the account sees has the film or episode, in more than a partial recording. */
export function ownedSql(db: Db, who: Principal): Knex.Raw {
  const subs = ownedItems.map((start) => {
    const inner = db.queryBuilder().select(db.raw('1')) as Query;
    start(inner, who);
    return inner.whereRaw(
      `not exists (select from recordings part where part.item_id = own.id and part.state in ('partial', 'failed'))`,
    );
  });
  return db.raw(`(${subs.map(() => 'exists (?)').join(' or ')})`, subs as unknown as string[]);
}

export const programFields = {
  title: { kind: 'text', where: folded('t.folded') },
  kind: {
    kind: 'enum',
    values: ['movie', 'series', 'sports', 'news', 'kids', 'music', 'other'],
    where: scalar('p.kind', 'text'),
  },
  series: { kind: 'tag', operators: ['eq', 'ne', 'in', 'nin'], where: scalar('p.series_key', 'text') },
  category: { kind: 'tag', where: category },
  is_new: { kind: 'boolean', where: flag('p.is_new') },
  is_live: { kind: 'boolean', where: flag('p.is_live') },
  is_premiere: { kind: 'boolean', where: flag('p.is_premiere') },
  group: {
    kind: 'tag',
    where: related((inner) => shown(inner.whereNotNull('fc.group_name')), folded('foyer_fold(fc.group_name)')),
  },
  favorite: { kind: 'boolean', where: favorite },
  year: { kind: 'number', integer: true, where: scalar('p.year', 'numeric') },
  hd: { kind: 'boolean', where: flag('coalesce(p.hd, false)') },
  age_rating: { kind: 'enum', where: scalar('p.age_rating', 'text') },
  on_air: { kind: 'boolean', where: onAir },
  recorded: { kind: 'boolean', where: recorded },
  owned: { kind: 'boolean', where: owned },
} as const satisfies Record<string, SqlField<ProgramContext>>;

export const programSorts: SortTable = {
  startAt: { column: 'p.start_at', type: 'timestamptz' },
  title: { column: 't.folded', type: 'text' },
  starRating: { column: 'p.star_rating', type: 'real', nullable: true, descends: true },
};
