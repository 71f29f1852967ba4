// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };
const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

const keyOf = (op: string, caller: Caller): string =>
  `${op}_${caller}`
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '_')
    .slice(-40);

/** A field that the resource declares, made by the operator. */
async function declaredField(world: World, key: string): Promise<{ params: { id: string } }> {
  const body = { key, label: key, kind: 'text', itemTypes: ['movie'], managedBy: HERE };
  const { id } = (await world.api.as(world.people.operator).createCustomField({ body })).body;
  return { params: { id } };
}

export const rows: Row[] = [
  ...(['updateCustomField', 'deleteCustomField'] as const).map(
    (op): Row => ({
      op,
      says:
        op === 'updateCustomField'
          ? 'changing or deleting it by others is 409 `managed-by-resource`.'
          : '409 `managed-by-resource`.',
      when: 'a declared one',
      request: async (world, caller) => {
        const input = await declaredField(world, keyOf(op, caller));
        return op === 'updateCustomField' ? { ...input, body: { label: 'x' } } : input;
      },
      answers: {
        operator: 'ok',
        ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key"),
        ...all('403 settings:manage', ...LOOKERS),
      },
    }),
  ),
  {
    op: 'createCustomField',
    says: 'managedBy?(operator only)',
    request: (_world, caller) => ({
      body: { key: keyOf('made', caller), label: 'Made', kind: 'text', itemTypes: ['movie'], managedBy: HERE },
    }),
    answers: {
      operator: 'ok',
      ...all('403 operator', 'owner', 'admin', "the admin's key"),
      ...all('403 settings:manage', ...LOOKERS),
    },
  },
  {
    op: 'listCustomFields',
    says: 'audience editors hides field and values from accounts without `item:edit` everywhere',
    request: async (world, caller) => {
      const key = keyOf('hidden', caller);
      const body = { key, label: key, kind: 'text', itemTypes: ['movie'], audience: 'editors' };
      await world.api.as(world.people.owner).createCustomField({ body });
      return { query: {} };
    },
    answers: { ...all('shown', 'owner', 'admin', 'editor'), ...all('hidden', 'member', 'child', 'guest') },
    read: ({ items }: { items: { audience: string }[] }) =>
      items.some(({ audience }) => audience === 'editors') ? 'shown' : 'hidden',
  },
];
