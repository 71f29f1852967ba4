// Refusals of the contract about other people's history; test/contract/record-matrix.test.ts sends the requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller } from '#support/record-world.ts';

const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];
const managers = { ...all('ok', 'owner', 'admin', "the admin's key", 'operator') };
const refused = all('403 session:manage', ...LOOKERS);

export const rows: Row[] = [
  {
    op: 'listHistory',
    says: 'userId `all` or another account needs `session:manage` (403)',
    request: () => ({ query: { userId: 'all' } }),
    answers: { ...managers, ...refused },
  },
  {
    op: 'listHistory',
    says: 'userId `all` or another account needs `session:manage` (403)',
    when: 'of another account',
    request: ({ people }) => ({ query: { userId: people['another member'].accountId } }),
    answers: { ...managers, ...refused },
  },
  {
    op: 'listHistory',
    says: "Own history is everyone's right",
    request: () => ({}),
    answers: { ...managers, ...all('ok', ...LOOKERS) },
  },
  {
    op: 'getStats',
    says: 'The scope server, a userId, content and delivery need `session:manage`',
    request: () => ({ query: { scope: 'server' } }),
    answers: { ...managers, ...refused },
  },
  {
    op: 'deleteHistory',
    says: "nobody deletes an adult's history but that adult",
    request: ({ people }) => ({ query: { all: true, userId: people['another member'].accountId } }),
    answers: { ...all('404', 'owner', 'admin', 'parent'), ...all('403 user:manage', 'member', 'guest') },
  },
  {
    op: 'deleteHistory',
    says: 'A child cannot delete its own (403)',
    request: () => ({ query: { all: true } }),
    answers: { ...all('ok', 'owner', 'admin', 'member', 'guest'), child: '403 child' },
  },
];
