import { raiseChanges, touchItems } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { itemsCrediting, librariesOf, lockPeople } from './people.store.ts';

/** Events of one change: a presenter may be in thousands of items. */
export const MOST_EVENTS = 1000;

/** Deletes a person with credits, favourites and portraits. With `block` the external ids are never taken again. */
export async function removePerson(call: Call, id: string, block: boolean): Promise<void> {
  const { db } = call;
  await raiseChanges(db, await librariesOf(db, [id]));
  await lockPeople(db, [id]);
  const row = await db('people').where({ id }).first('name');
  const items = await itemsCrediting(db, [id], MOST_EVENTS);
  if (block) {
    await db.raw(
      'insert into person_blocks (provider, value) select provider, value from person_ids where person_id = ? on conflict do nothing',
      [id],
    );
  }
  await db('people').where({ id }).delete();
  await touchItems(db, items, ['people']);
  await audit(call, 'person.deleted', { personId: id, name: row?.name, block });
}
