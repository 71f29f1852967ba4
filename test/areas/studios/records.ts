// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const others: Caller[] = ['owner', 'admin', 'member', 'guest', "the member's key"];

/** The studio of a film for adults. */
async function studio({ api, films }: World): Promise<string> {
  const { db } = api.deps;
  const item = await givenItem(db, films, { top: true, age_years: 18 });
  await givenTag(db, films, item, ['studio', `Studio ${item}`]);
  const row = await db('item_tags').where({ item_id: item }).first<{ tag_id: string }>('tag_id');
  return row.tag_id;
}

export const rows: Row[] = [
  {
    op: 'getStudio',
    says: '404 when none of its items is visible.',
    request: async (world) => ({ params: { id: await studio(world) } }),
    answers: { ...all('ok', ...others), child: '404' },
  },
  {
    op: 'listStudios',
    says: 'An unknown or hidden library is 404',
    request: async ({ api }) => {
      const library = await givenLibrary(api.deps.db, 'movies', { everyone: false, access_roles: [] });
      return { params: { id: library.id } };
    },
    answers: { ...all('ok', 'owner', 'admin'), ...all('404', 'member', 'child', 'guest', "the member's key") },
  },
];
