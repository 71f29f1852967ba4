// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, listed, type Row } from '#support/record-row.ts';

const MANAGER = { name: 'x', namespace: 'media', kind: 'Library', uid: 'u' };

export const rows: Row[] = [
  ...(['createLibrary', 'updateLibrary'] as const).map(
    (op): Row => ({
      op,
      says: "Only the operator's own API key may send `managedBy` (403 from others)",
      request: async (world, caller) => {
        const managedBy = { ...MANAGER, uid: `${op} ${caller}` };
        if (op === 'createLibrary') return { body: { name: `${op} ${caller}`, type: 'movies', managedBy } };
        return { params: { id: await world.library() }, body: { managedBy } };
      },
      answers: { operator: 'ok', ...all('403 operator', 'owner', 'admin', "the admin's key") },
    }),
  ),
  {
    op: 'updateLibrary',
    says: 'a change to them by anybody but the operator is 409 `managed-by-resource`',
    when: 'a declared field',
    request: async (world, caller) => ({
      params: { id: await world.managedLibrary() },
      body: { name: `new ${caller}` },
    }),
    answers: { operator: 'ok', ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key") },
  },
  {
    op: 'updateLibrary',
    says: 'the fields its spec names are in `managedFields` and a change to them by anybody but the operator is 409',
    when: 'a free field',
    request: async (world) => ({ params: { id: await world.managedLibrary() }, body: { settings: { onHome: false } } }),
    answers: all('ok', 'operator', 'owner', 'admin'),
  },
  ...(['getScan', 'cancelScan'] as const).map(
    (op): Row => ({
      op,
      says: 'Scans of libraries the caller may see',
      request: async (world) => ({ params: { id: await world.hiddenScan() } }),
      answers: {
        ...all('ok', 'owner', 'admin'),
        ...(op === 'getScan'
          ? all('404', 'member', 'editor', 'child', 'guest')
          : all('403 scan:trigger', 'member', 'child')),
      },
    }),
  ),
  {
    op: 'listScans',
    says: 'Scans of libraries the caller may see, newest first',
    request: async (world) => ({ headers: { 'x-of': await world.hiddenScan() } }),
    answers: { ...all('listed', 'owner', 'admin'), ...all('not listed', 'member', 'editor', 'child', 'guest') },
    read: listed,
  },
  {
    op: 'getItemFile',
    says: 'path, hashes and probe only with `library:manage` (include=probe without it is 403)',
    request: async (world) => ({ params: await world.file(), query: { include: 'probe' } }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', 'member', 'editor', 'child', 'guest') },
  },
  {
    op: 'browseLibraryFolders',
    says: "without `library:manage` it needs the library's `folderView` (403 `FORBIDDEN` with details.setting)",
    request: (world) => ({ params: { id: world.films.id } }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 folderView', 'member', 'editor', 'child', 'guest') },
  },
];
