// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';

export const rows: Row[] = [
  {
    op: 'getSpine',
    says: 'coverage, importing, keys and source only with `library:manage`',
    request: () => ({}),
    answers: {
      ...all('shown', 'owner', 'admin', "the admin's key"),
      ...all('hidden', 'member', 'editor', 'child', 'guest'),
    },
    read: (status: object) => ('trustedKeys' in status ? 'shown' : 'hidden'),
  },
];
