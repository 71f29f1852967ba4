// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { givenItem } from '#support/given-items.ts';
import { all, type Row } from '#support/record-row.ts';

type Hidden = 'searchItemMatches' | 'applyItemMatch' | 'clearItemMatch' | 'refreshItem' | 'splitItem';

const hidden = (op: Hidden, body?: object): Row => ({
  op,
  says: 'A trashed item is 404 here.',
  request: async (world) => {
    const { db } = world.api.deps;
    const id = await givenItem(db, world.films, { top: true, title: 'In the trash' });
    await db('items').where({ id }).update({ trashed_at: new Date() });
    return { params: { id }, ...(body && { body }) };
  },
  answers: {
    ...all('404', 'owner', 'admin', 'editor', "the admin's key"),
    ...all('403 item:edit', 'member', 'child', 'guest'),
  },
});

export const rows: Row[] = [
  hidden('searchItemMatches'),
  hidden('applyItemMatch', { externalIds: { tmdb: '1' } }),
  hidden('clearItemMatch'),
  hidden('refreshItem', {}),
  hidden('splitItem', { fileIds: ['01900000-0000-7000-8000-00000000abcd'] }),
];
