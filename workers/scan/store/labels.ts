import type { Writing } from './context.ts';
import { recordset } from './context.ts';
import type { WrittenFile } from './files.ts';

/** An item that took over the last file of another has its labels from now on: a rescan shows nothing that was hidden. */
export async function inheritLabels({ db }: Writing, files: readonly WrittenFile[]): Promise<void> {
  const heirs = files.flatMap(({ placed: { known, itemId } }) =>
    known && known.item_id !== itemId ? [{ former: known.item_id, heir: itemId }] : [],
  );
  if (heirs.length === 0) return;
  await db.raw(
    `insert into item_labels (item_id, label)
     select r.heir, unnest(i.labels) from jsonb_to_recordset(?::jsonb) as r(former uuid, heir uuid) join items i on i.id = r.former
       where i.labels <> '{}' and not exists (select 1 from media_files f where f.item_id = i.id)
     on conflict do nothing`,
    [recordset(heirs)],
  );
  await db.raw('select foyer_close_labels(?::uuid[])', [heirs.map(({ heir }) => heir)]);
}
