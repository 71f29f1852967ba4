// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };

/** A theme that the resource declares, made by the operator. */
async function declaredTheme(world: World, name: string): Promise<{ params: { id: string } }> {
  const body = { name, schemes: { dark: {} }, managedBy: HERE };
  const { id } = (await world.api.as(world.people.operator).createTheme({ body })).body;
  return { params: { id } };
}

const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

export const rows: Row[] = [
  ...(['updateTheme', 'deleteTheme'] as const).map(
    (op): Row => ({
      op,
      says:
        op === 'updateTheme'
          ? '409 `revision`, `built-in`, `managed-by-resource`'
          : '409 `server-default`, `built-in`.',
      when: 'a declared one',
      request: async (world, caller) => {
        const input = await declaredTheme(world, `${op} ${caller}`);
        return op === 'updateTheme' ? { ...input, body: { author: 'x' } } : input;
      },
      answers: {
        operator: 'ok',
        ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key"),
        ...all('403 settings:manage', ...LOOKERS),
      },
    }),
  ),
  {
    op: 'setThemeSelection',
    says: "scope server needs `settings:manage` and emits; the profile's own emits state.changed alone, with `preferences`.",
    when: 'of the server',
    request: () => ({ body: { scope: 'server', selection: { mode: 'dark' } } }),
    answers: {
      ...all('ok', 'owner', 'admin', "the admin's key", 'operator'),
      ...all('403 settings:manage', ...LOOKERS),
    },
  },
  {
    op: 'setThemeSelection',
    says: "scope server needs `settings:manage` and emits; the profile's own emits state.changed alone, with `preferences`.",
    when: 'of the profile',
    request: () => ({ body: { selection: { mode: 'light', themeId: 'cinema' } } }),
    answers: all('ok', 'owner', 'admin', "the admin's key", 'operator', ...LOOKERS),
  },
  {
    op: 'listThemes',
    says: 'usedBy(count of profiles, settings:manage only)',
    request: () => ({}),
    answers: { ...all('counted', 'owner', 'admin'), ...all('not counted', ...LOOKERS) },
    read: ({ items }: { items: { usedBy?: number }[] }) =>
      items.every(({ usedBy }) => usedBy !== undefined) ? 'counted' : 'not counted',
  },
];
