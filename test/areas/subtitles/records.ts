// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the requests.
import { insertRequests } from '#areas/subtitles/speech/requests.store.ts';
import { givenFile } from '#support/given-items.ts';
import { all, type Row } from '#support/record-row.ts';
import type { World } from '#support/record-world.ts';

/** A request of the member for the film that everyone sees. */
async function requestOfMember({ api, film, films, people }: World): Promise<string> {
  const { db } = api.deps;
  const audio = { kind: 'audio', codec: 'aac' };
  const fileId = await givenFile(db, films, film, { streams: [audio] });
  const stream = await db('media_streams').where({ file_id: fileId }).first('id');
  const wanted = {
    ...{ itemId: film, libraryId: films.id, fileId, audio: { id: stream?.id ?? '', index: 0 }, durationMs: 60_000 },
    ...{ task: 'transcribe' as const, model: 'base', language: 'de', spoken: 'de', spokenBy: 'soundtrack' as const },
  };
  const [id = ''] = await insertRequests(db, [wanted], { accountId: people.member.accountId });
  return id;
}

export const rows: Row[] = [
  {
    op: 'deleteGeneration',
    says: "Someone else's request is 403 for a non-admin who can see the item",
    request: async (world) => ({ params: { id: await requestOfMember(world) } }),
    answers: {
      ...all('ok', 'owner', 'admin', 'member', 'profile of the member', "the admin's key", "the member's key"),
      ...all('403 requester', 'another member', 'editor', 'child', 'guest'),
    },
  },
  {
    op: 'createSubtitleBatch',
    says: 'Admins as defined above, else 403',
    request: async (world) => ({ body: { itemIds: [world.film], dryRun: true } }),
    answers: {
      ...all('409 no-model', 'owner', 'admin', "the admin's key"),
      editor: '403 subtitle-tools',
      ...all('403 item:edit', 'member', 'child', 'guest'),
    },
  },
];
