import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels } from '#identity/visibility.ts';
import { type FieldTable, filterQuery, type Rules } from '#kernel/filter.ts';
import { applyRules, flag, folded, type SqlField, scalar, type Where } from '#kernel/filter-sql.ts';

interface Context {
  who: Principal;
}

const some = ['eq', 'ne', 'in', 'nin'] as const;

const labelled: Where<Context> = (query, { op, values }, { who }) => {
  const names = values.map((value) => value.toLowerCase());
  const has = (rows: Knex.QueryBuilder): void => {
    rows.from('labels').whereRaw('labels.number = any(i.labels)').modify(onlyKnownLabels, who);
    rows.whereRaw('(labels.id::text = any(?::text[]) or lower(labels.name) = any(?::text[]))', [names, names]);
  };
  if (op === 'ne' || op === 'nin') query.whereNotExists(has);
  else query.whereExists(has);
};

const received: Where<Context> = (query, { op, values }) => {
  const is = 'exists (select from live_sources fs where fs.channel_id = c.id and fs.tuner_id::text = any(?::text[]))';
  query.whereRaw(op === 'ne' || op === 'nin' ? `not ${is}` : is, [values.map((value) => value.toLowerCase())]);
};

/** Over `live_channels as c`, `items as i` and the favourites of the profile `f`. */
const fields: Readonly<Record<string, SqlField<Context>>> = {
  group: { kind: 'text', where: folded('foyer_fold(c.group_name)') },
  kind: { kind: 'enum', values: ['tv', 'radio'], where: scalar('c.kind', 'text') },
  favorite: { kind: 'boolean', where: flag('f.profile_id is not null') },
  hd: { kind: 'boolean', where: flag('c.hd') },
  drm: { kind: 'boolean', where: flag('c.drm') },
  enabled: { kind: 'boolean', where: flag('c.enabled') },
  tuner: { kind: 'tag', operators: some, where: received },
  has_guide: { kind: 'boolean', where: flag('c.guide_source_id is not null') },
  library: { kind: 'tag', operators: some, where: scalar('c.library_id::text', 'text') },
  label: { kind: 'tag', operators: some, where: labelled },
};

export const channelFields = fields as FieldTable;
export const channelFilter = filterQuery(channelFields, Object.keys(fields).join(', '));

/** Adds the conditions of a filter. */
export const filtered = (rules: Rules, who: Principal) => (query: Knex.QueryBuilder) =>
  applyRules(query, rules, { fields, context: { who } });
