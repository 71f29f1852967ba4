import type { Knex } from 'knex';
import { requirePermission } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { builtInIcon, builtInIcons } from './built-in/built-in.ts';
import type { Icon, IconsQuery } from './icons.schemas.ts';
import { iconSort } from './icons.sort.ts';
import { readIcons, toBuiltIn, withUses } from './icons.view.ts';

/** Built-in icons as rows, in addition to those of the table. */
const ALL = `(select i.id, i.set_id, s.name as set_name, i.name, i.label, i.slot, i.keywords, i.tintable, i.updated_at
    from icons i join icon_sets s on s.id = i.set_id
  union all
  select b.id, b.set_id, b.set_name, b.name, b.label, b.slot, '{}', true, timestamptz '2026-11-27'
    from json_to_recordset(?::json) as b (id uuid, set_id uuid, set_name text, name text, label text, slot text)) as x`;

const FIXED = JSON.stringify(
  builtInIcons.map((icon) => {
    const { id, setId, name, label, slot } = toBuiltIn(icon);
    return { id, set_id: setId, set_name: icon.set.name, name, label, slot };
  }),
);

/** 3 for the very name, 2 for the beginning of name or label, 1 for any other place, 0 for no match. */
const RANK = `case when foyer_fold(x.name) = f.q or foyer_fold(x.label) = f.q then 3
    when starts_with(foyer_fold(x.name), f.q) or starts_with(foyer_fold(x.label), f.q) then 2
    when position(f.q in foyer_fold(x.name || ' ' || x.label || ' ' || array_to_string(x.keywords, ' '))) > 0 then 1 else 0 end`;

const rankSort = { rank: { column: 'x.rank', type: 'int', descends: true }, ...iconSort };

function selectIcons({ db }: Call, { q, setIds, slot, tintable, unused }: IconsQuery): Knex.QueryBuilder {
  const rank = q === undefined ? '0' : RANK;
  const folded = `(select foyer_fold(?) as q) f`;
  const ranked = db.raw(`(select x.*, ${rank} as rank from ${ALL} cross join ${folded}) as x`, [FIXED, q ?? '']);
  const query = db.queryBuilder().from(ranked).select('x.id');
  if (q !== undefined) query.where('x.rank', '>', 0);
  if (setIds) query.whereIn('x.set_id', setIds);
  if (slot) query.where('x.slot', slot);
  if (tintable !== undefined) query.where('x.tintable', tintable);
  if (unused !== undefined) {
    const used = `(exists (select from libraries l where l.icon = x.id::text and l.deleted_at is null)
      or exists (select from library_types t where t.icon_id = x.id))`;
    query.whereRaw(unused ? `not ${used}` : used);
  }
  return query;
}

/** A page over the icons of all sets; with `q` best matches first. */
export async function pageOfIcons(call: Call, query: IconsQuery): Promise<{ items: Icon[]; page: Page }> {
  const { db, who, deps } = call;
  if (query.unused !== undefined) requirePermission(who, 'library:manage');
  const { cursor, limit, sort, ...wanted } = query;
  const { items: ids, page } = await pageOf<{ id: string }, string>(db, selectIcons(call, query), {
    keys: deps.keys,
    terms: parseSort(sort, rankSort, wanted.q === undefined ? 'name' : '-rank,name'),
    cursor,
    limit,
    scope: JSON.stringify(['listIcons', wanted]),
    idColumn: 'x.id',
    toItem: ({ id }) => id,
  });
  const fixed = await withUses(call, ids.flatMap((id) => builtInIcon(id) ?? []).map(toBuiltIn));
  const found = new Map([...fixed, ...(await readIcons(call, ids))].map((icon) => [icon.id, icon]));
  return { items: ids.flatMap((id) => found.get(id) ?? []), page };
}
