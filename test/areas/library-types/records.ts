// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };
const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

/** A type that the resource declares, made by the operator. */
async function declaredType(world: World, name: string): Promise<{ params: { key: string } }> {
  const body = { key: `custom:${name}`, name, base: 'movies', managedBy: HERE };
  const { key } = (await world.api.as(world.people.operator).createLibraryType({ body })).body;
  return { params: { key } };
}

const nameOf = (op: string, caller: Caller): string =>
  `${op}-${caller}`
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .slice(-28);

export const rows: Row[] = [
  ...(['updateLibraryType', 'deleteLibraryType'] as const).map(
    (op): Row => ({
      op,
      says:
        op === 'updateLibraryType'
          ? '409 `revision`, `built-in`, `managed-by-resource`.'
          : '409 `type-in-use` (details.libraries, ids and names) while a library has it',
      when: 'a declared one',
      request: async (world, caller) => {
        const input = await declaredType(world, nameOf(op, caller));
        return op === 'updateLibraryType' ? { ...input, body: { name: 'x' } } : input;
      },
      answers: {
        operator: 'ok',
        ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key"),
        ...all('403 settings:manage', ...LOOKERS),
      },
    }),
  ),
  {
    op: 'createLibraryType',
    says: 'managedBy?(operator only)',
    request: (_world, caller) => ({
      body: { key: `custom:${nameOf('made', caller)}`, name: 'Made', base: 'movies', managedBy: HERE },
    }),
    answers: {
      operator: 'ok',
      ...all('403 operator', 'owner', 'admin', "the admin's key"),
      ...all('403 settings:manage', ...LOOKERS),
    },
  },
  {
    op: 'listLibraryTypes',
    says: 'Counts only with `library:manage`.',
    request: () => ({}),
    answers: { ...all('counted', 'owner', 'admin'), ...all('not counted', ...LOOKERS) },
    read: ({ items }: { items: { libraryCount?: number; naming?: object[] }[] }) =>
      items.every(({ libraryCount, naming }) => libraryCount !== undefined && naming) ? 'counted' : 'not counted',
  },
];
