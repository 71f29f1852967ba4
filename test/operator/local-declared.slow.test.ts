// spec.declared on one machine: the same as in a cluster, from the ConfigMaps of the file.
import { expect } from 'chai';
import { eventually } from '#support/stores.ts';
import { Machine } from '../faults/machine.ts';

const SPEC = '  declared: [{ configMapRef: { name: looks } }]\n';
const looks = (...themes: object[]): string => `---
apiVersion: v1
kind: ConfigMap
metadata: { name: looks }
data:
  themes.json: '${JSON.stringify(themes)}'
`;

describe('spec.declared of operator local', function () {
  this.timeout(300_000);
  const machine = new Machine({ apis: 1 });
  before(() => machine.start());
  after(() => machine.stop());

  const own = async () => (await machine.owner.listThemes()).body.items.filter(({ source }) => source === 'own');
  const names = async (): Promise<string> => (await own()).map(({ name }) => name).join();
  const becomes = (wanted: string) => eventually(async () => (await names()) === wanted, 30_000);
  const condition = async (): Promise<string | undefined> => {
    const { status } = (await machine.status()).find(({ kind }) => kind === 'MediaServer') ?? {};
    const all = (status?.conditions ?? []) as { type?: string; reason?: string; message?: string }[];
    const found = all.find(({ type }) => type === 'DeclaredReady');
    return found && `${found.reason} ${found.message}`;
  };
  const reports = (words: RegExp) => eventually(async () => words.test(String(await condition())), 30_000);

  it('creates its themes, follows the file, reports refused ones, and removes them again', async () => {
    const evening = { name: 'Evening', schemes: { dark: { 'color.accent': '#ffcc00' } } };
    machine.declare(SPEC, looks(evening, { name: 'Night', schemes: { dark: {} } }));
    await becomes('Evening,Night');
    await reports(/^InSync .*2 in all/);
    const [theme] = await own();
    expect(theme?.managedBy).to.include({ kind: 'MediaServer', name: 'home' });
    const refused = await machine.owner.deleteTheme({ params: { id: theme?.id ?? '' } });
    expect(refused.status).to.equal(409);
    machine.declare(SPEC, looks(evening, { name: 'Loud', schemes: { dark: { 'color.accent': 'red' } } }));
    await reports(/^ApiRefused ConfigMap looks, themes.json, entry 2 \(Loud\): 400 .*body.schemes.dark.color.accent/);
    await becomes('Evening');
    machine.declare('', '');
    await becomes('');
    await reports(/^undefined$/);
  });
});
