// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';

const RESTRICTS = { member: '403 item:edit', editor: '403 user:manage', ...all('ok', 'owner', 'admin') };

export const rows: Row[] = [
  {
    op: 'listLabels',
    says: 'include access needs `user:manage`.',
    request: () => ({ query: { include: 'access' } }),
    answers: {
      ...all('ok', 'owner', 'admin', 'parent'),
      ...all('403 user:manage', 'member', 'editor', 'child', 'guest'),
    },
  },
  {
    op: 'createLabel',
    says: '`restricted` true needs `user:manage` too (403)',
    request: (_world, caller) => ({ body: { name: `closed by ${caller}`, restricted: true } }),
    answers: RESTRICTS,
  },
  {
    op: 'updateLabel',
    says: 'Merging or renaming a label that restricts needs `user:manage` too (403)',
    when: 'renaming',
    request: async (world, caller) => ({
      params: { id: await world.label('restricts') },
      body: { name: `now ${caller}` },
    }),
    answers: RESTRICTS,
  },
  {
    op: 'updateLabel',
    says: 'Merging or renaming a label that restricts needs `user:manage` too (403)',
    when: 'merging',
    request: async (world) => ({
      params: { id: await world.label() },
      body: { mergeInto: await world.label('restricts') },
    }),
    answers: RESTRICTS,
  },
  {
    op: 'updateLabel',
    says: 'Merging or renaming a label that restricts needs `user:manage` too (403)',
    when: 'a harmless one',
    request: async (world, caller) => ({ params: { id: await world.label() }, body: { name: `plain ${caller}` } }),
    answers: { ...all('ok', 'owner', 'admin', 'editor'), member: '403 item:edit' },
  },
  {
    op: 'deleteLabel',
    says: 'A label that restricts needs `user:manage` and `confirm`, else 409 `label-restricts`',
    request: async (world) => ({ params: { id: await world.label('restricts') } }),
    answers: { ...all('409 label-restricts', 'owner', 'admin'), editor: '403 user:manage', member: '403 item:edit' },
  },
  {
    op: 'setLabelItems',
    says: 'A label that restricts also needs `user:manage`.',
    request: async (world) => ({ params: { id: await world.label('restricts') }, body: { add: [] } }),
    answers: RESTRICTS,
  },
  {
    op: 'setLabelAccess',
    says: "one who cannot manage a principal (an admin and the owner's account) gets 403",
    request: async (world) => ({
      params: { id: await world.label() },
      body: { restricted: false, deny: [{ userId: world.people['another admin'].accountId }] },
    }),
    answers: { owner: 'ok', ...all('403 rank', 'admin', 'parent') },
  },
];
