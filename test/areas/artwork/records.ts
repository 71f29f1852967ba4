// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { newId } from '#platform/ids.ts';
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const EDITORS: Caller[] = ['owner', 'admin', 'editor', "the admin's key"];
const VIEWERS: Caller[] = ['member', 'child', 'guest', "the member's key", 'operator'];
const SHA256 = 'a'.repeat(64);

/** An uploaded poster of the film, or of another owner, whose original is in the store. */
async function image({ api, film }: World, owner = { owner_kind: 'item', owner_id: film }): Promise<string> {
  const { db, objects } = api.deps;
  await objects.put('foyer-artwork', SHA256, 'the bytes');
  const id = newId();
  await db('images').insert({
    ...{ id, kind: 'poster', ...owner, source: 'url', source_url: 'https://a.example/x.jpg', sha256: SHA256 },
    ...{ mime: 'image/jpeg', size_bytes: 9, width: 100, height: 150, blurhash: 'L00000', dominant: '#000000' },
  });
  return id;
}

export const rows: Row[] = [
  {
    op: 'getImage',
    says: 'The original bytes are served only with `original`, to those with `item:edit`',
    request: async (world) => ({ params: { id: await image(world) }, query: { format: 'original' } }),
    answers: {
      ...all('ok', ...EDITORS),
      ...all('403 item:edit', ...VIEWERS),
    },
  },
  {
    op: 'getImageInfo',
    says: 'sourceUrl and addedBy only with `item:edit`.',
    request: async (world) => ({ params: { id: await image(world) } }),
    answers: { ...all('source', ...EDITORS), ...all('no source', ...VIEWERS) },
    read: ({ sourceUrl }: { sourceUrl?: string }) => (sourceUrl === undefined ? 'no source' : 'source'),
  },
  {
    op: 'listItemArtwork',
    says: 'Without `item:edit` only the selected ones.',
    request: async (world) => {
      await image(world);
      await image(world);
      return { params: { id: world.film }, query: { kind: 'poster' } };
    },
    answers: { ...all('all', ...EDITORS), ...all('selected', ...VIEWERS) },
    read: ({ kinds }: { kinds: { poster: { images: { selected: boolean }[] } } }) =>
      kinds.poster.images.every(({ selected }) => selected) ? 'selected' : 'all',
  },
  {
    op: 'updateImage',
    says: 'crops of faces are 409 `not-artwork`.',
    when: 'of a photo',
    request: async (world) => {
      const { db } = world.api.deps;
      const photo = { id: newId(), library_id: world.films.id, type: 'photo', title: 'P', sort_title: 'p' };
      await db('items').insert({ ...photo, identity_key: photo.id });
      const id = await image(world, { owner_kind: 'item', owner_id: photo.id });
      await db('images').where({ id }).update({ source: 'local' });
      return { params: { id }, body: { rotate: 90 } };
    },
    answers: all('409 not-artwork', ...EDITORS),
  },
];
