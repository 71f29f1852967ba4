// Custom values of an item, as its NFO file holds them.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

export interface SavedCustom {
  key: string;
  value: string;
}

/**
 * The custom values of an item in the order of their fields, several choices one by one. Fields for editors alone are left
 * out, because all who read the folder read the file. People and items go by their names, which others can read.
 */
export async function customOf(db: Db, itemId: string): Promise<SavedCustom[]> {
  return rowsOf<SavedCustom>(
    db,
    `select f.key, coalesce(v.text_value, v.number_value::text, v.bool_value::text, v.date_value::text, p.name, t.title) as value
     from items i join custom_values v on v.item_id = i.id join custom_fields f on f.id = v.field_id
       left join people p on p.id = v.ref_id left join items t on t.id = v.ref_id and t.trashed_at is null
     where i.id = ? and f.deleted_at is null and f.audience = 'everyone' and coalesce(i.own_type, i.type) = any(f.item_types)
       and (f.library_ids is null or i.library_id = any(f.library_ids))
       and coalesce(v.text_value, v.number_value::text, v.bool_value::text, v.date_value::text, p.name, t.title) is not null
     order by f.group_name nulls first, f.position, f.label, f.id, v.place`,
    [itemId],
  );
}
