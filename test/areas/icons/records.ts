// Refusals of the contract that depend on the owner of the set; test/contract/record-matrix.test.ts sends the requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };
const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

/** A set that the resource declares, made by the operator. */
async function declaredSet(world: World, name: string): Promise<{ params: { id: string } }> {
  const body = { name, copyOf: '01900000-0000-7000-8000-0000001c0001', managedBy: HERE };
  const { id } = (await world.api.as(world.people.operator).createIconSet({ body })).body;
  return { params: { id } };
}

const refused = {
  ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key"),
  ...all('403 library:manage', ...LOOKERS),
};

export const rows: Row[] = [
  {
    op: 'createIconSet',
    says: 'managedBy?(operator only)',
    request: () => ({ body: { name: 'Declared', validateOnly: true, managedBy: HERE } }),
    answers: {
      operator: 'ok',
      ...all('403 operator', 'owner', 'admin', "the admin's key"),
      ...all('403 library:manage', ...LOOKERS),
    },
  },
  ...(['updateIconSet', 'deleteIconSet'] as const).map(
    (op): Row => ({
      op,
      says: 'A set in a resource is 409',
      request: async (world, caller) => {
        const input = await declaredSet(world, `${op} ${caller}`);
        return op === 'updateIconSet' ? { ...input, body: { author: 'x' } } : input;
      },
      answers: { operator: 'ok', ...refused },
    }),
  ),
  ...(['updateIcon', 'deleteIcon'] as const).map(
    (op): Row => ({
      op,
      says: 'A set in a resource is 409',
      when: 'an icon of it',
      request: async (world, caller) => {
        const { params } = await declaredSet(world, `${op} ${caller}`);
        const { icons } = (await world.api.as(world.people.operator).getIconSet({ params })).body;
        const input = { params: { id: icons[0]?.id ?? '' } };
        return op === 'updateIcon' ? { ...input, body: { label: 'x' } } : input;
      },
      answers: { operator: 'ok', ...refused },
    }),
  ),
  {
    op: 'listIcons',
    says: 'unused?(bool, library:manage)',
    request: () => ({ query: { unused: true } }),
    answers: {
      ...all('ok', 'owner', 'admin', "the admin's key", 'operator'),
      ...all('403 library:manage', ...LOOKERS),
    },
  },
  {
    op: 'listIcons',
    says: 'inUse?(count of libraries',
    request: () => ({}),
    answers: { ...all('counted', 'owner', 'admin'), ...all('not counted', ...LOOKERS) },
    read: ({ items }: { items: { inUse?: number }[] }) =>
      items.every(({ inUse }) => inUse !== undefined) ? 'counted' : 'not counted',
  },
];
