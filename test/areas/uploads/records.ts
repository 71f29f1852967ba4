// Refusals of the contract that depend on the owner of the upload; test/contract/record-matrix.test.ts sends the requests.
import { newId } from '#platform/ids.ts';
import { givenLibrary } from '#support/given-items.ts';
import { all, type Row } from '#support/record-row.ts';
import type { World } from '#support/record-world.ts';

/** An open upload of the member. */
async function uploadOfMember({ api, people }: World): Promise<string> {
  const { db } = api.deps;
  const library = await givenLibrary(db, 'photos');
  const id = newId();
  await db('uploads').insert({
    ...{ id, account_id: people.member.accountId, library_id: library.id, name: 'a.jpg' },
    ...{ size_bytes: 3, chunk_bytes: 8 << 20, chunk_count: 1 },
  });
  return id;
}

export const rows: Row[] = [
  {
    op: 'cancelUpload',
    says: "404 for another's upload",
    request: async (world) => ({ params: { id: await uploadOfMember(world) } }),
    answers: {
      ...all('ok', 'member', 'profile of the member'),
      ...all('404', 'owner', 'admin', 'another member', 'editor'),
      ...all('403 photo:upload', 'child', 'guest', "the member's key"),
    },
  },
  {
    op: 'createUploads',
    says: '403 when they see it but may not upload',
    request: ({ films }) => ({ body: { libraryId: films.id, files: [{ name: 'a.jpg', sizeBytes: 1 }] } }),
    answers: {
      ...all('403', 'owner', 'admin', 'member', 'editor'),
      ...all('403 photo:upload', 'child', 'guest'),
    },
  },
];
