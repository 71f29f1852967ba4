// Fields by which the channels of the guide are filtered, and their orders.
import type { Principal } from '#identity/principal.ts';
import { flag, folded, idOrName, type SqlField, scalar, type Where } from '#kernel/filter-sql.ts';
import type { SortTable } from '#kernel/page.ts';

/** Queries read `live_channels as c`, `libraries as l` and the favourites of the profile as `f`. */
export interface RowContext {
  who: Principal;
  now: Date;
}

const HAS_GUIDE = `exists (select from guide_channels g join guide_sources s on s.id = g.source_id and s.enabled
  where g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id)`;

const group: Where<RowContext> = folded('foyer_fold(c.group_name)');

export const rowFields = {
  group: { kind: 'tag', where: group },
  kind: { kind: 'enum', values: ['tv', 'radio'], where: scalar('c.kind', 'text') },
  favorite: { kind: 'boolean', where: flag('f.channel_id is not null') },
  hd: { kind: 'boolean', where: flag('c.hd') },
  has_guide: { kind: 'boolean', where: flag(HAS_GUIDE) },
  library: { kind: 'tag', where: idOrName({ id: 'c.library_id', name: 'l.name_folded' }) },
} as const satisfies Record<string, SqlField<RowContext>>;

export const rowSorts: SortTable = {
  number: { column: 'c.number_order', type: 'int' },
  name: { column: 'foyer_fold(c.name)', type: 'text' },
  favorite: { column: 'case when f.channel_id is null then 1 else 0 end', type: 'int' },
};
