// Refusals of the contract that depend on the owner of the layout; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller } from '#support/record-world.ts';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };
const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

export const rows: Row[] = [
  {
    op: 'setHomeLayout',
    says: 'scope server needs `settings:manage` and is what profiles without their own see',
    request: () => ({ body: { scope: 'server', rows: [], validateOnly: true } }),
    answers: {
      ...all('ok', 'operator', 'owner', 'admin', "the admin's key"),
      ...all('403 settings:manage', ...LOOKERS),
    },
  },
  {
    op: 'setHomeLayout',
    when: 'a declaration of it',
    says: 'managedBy?(operator only; null gives it free)',
    request: () => ({ body: { scope: 'server', rows: [], validateOnly: true, managedBy: HERE } }),
    answers: { operator: 'ok', ...all('403 operator', 'owner', 'admin', "the admin's key") },
  },
  {
    op: 'setHomeLayout',
    when: "the profile's own",
    says: 'With the restriction `homeLayout` on deny (Users) it is 403 with details.restriction',
    request: () => ({ body: { rows: [], validateOnly: true } }),
    answers: { ...all('ok', 'owner', 'admin', 'member', 'editor', 'child'), guest: '403 homeLayout' },
  },
];
