// Secrets of a server that people delete or change, on a cluster whose pods run: the data stays readable.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { until } from './support/until.ts';

const ROLL_MS = 240_000;

describe('the Secrets of a server with data', function () {
  this.timeout(2 * ROLL_MS);
  let home: Home;
  let serverId = '';

  before(async function () {
    this.timeout(UP_MS);
    home = await startHome({ name: 'secrets', spec: { api: { replicas: 1 }, transcode: { warm: 0 } } });
    serverId = await idOfServer();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.tell();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  const idOfServer = async (): Promise<string> => (await home.owner.getServerInfo()).body.id;
  const remove = (name: string): Promise<string> =>
    home.kubectl.run(['delete', 'secret', name, '-n', home.namespace, '--wait=true']);
  const message = async (type: string): Promise<string> =>
    (await home.status()).conditions?.find((one) => one.type === type)?.message ?? '';

  /** The command that the condition gives, as a person runs it in a shell. */
  async function runCommandOf(type: string): Promise<void> {
    const command = /pods that still run: (kubectl .*)$/.exec(await message(type))?.[1] ?? '';
    const { program, kubeconfig } = home.kubectl as unknown as { program: string; kubeconfig: string };
    const here = `kubectl() { '${program}' --kubeconfig '${kubeconfig}' -n '${home.namespace}' "$@"; }`;
    await promisify(execFile)('bash', ['-euc', `${here}\n${command}`]);
  }
  const uids = async (): Promise<string[]> => {
    const all = await Promise.all(['api', 'workers', 'postgres', 'objects'].map((component) => home.pods(component)));
    return all
      .flat()
      .map(({ metadata }) => metadata.uid ?? '')
      .sort();
  };
  const rest = async (): Promise<void> => {
    await home.reaches('Stalled', 'undefined undefined', ROLL_MS);
    await home.reaches('Progressing', 'False Stable', ROLL_MS);
    await home.reaches('Ready', 'True AllReady');
    await home.reaches('Degraded', 'False AllReady');
  };

  const TYPES = { 'home-keys': 'SettingsValid', 'home-postgres': 'DatabaseReady', 'home-objects': 'ObjectsReady' };
  for (const [name, type] of Object.entries(TYPES))
    it(`are put back by the command of the condition, and nothing rolled meanwhile: ${name}`, async () => {
      const [before, values] = [await uids(), (await home.kubectl.find<KubeObject>(home.named('secret', name)))?.data];
      await remove(name);
      await home.reaches(type, 'False SecretLost');
      expect(await home.condition('Ready')).to.equal('True AllReady');
      await runCommandOf(type);
      await rest();
      expect(await uids()).to.deep.equal(before);
      const now = (await home.kubectl.find<KubeObject>(home.named('secret', name)))?.data as Record<string, string>;
      for (const [key, value] of Object.entries(now)) expect(value, key).to.equal((values as typeof now)[key]);
      expect(await idOfServer()).to.equal(serverId);
      expect((await home.owner.listLibraries()).status, 'nobody was signed out').to.equal(200);
    });

  it('give the database another password, of a changed Secret and of one made anew', async () => {
    const uri = 'postgres://foyer:second-password@home-postgres:5432/foyer';
    const [before] = await home.pods('postgres');
    await home.kubectl.patch(home.named('secret', 'home-postgres'), {
      stringData: { password: 'second-password', uri },
    });
    await until(
      'another pod',
      async () => (await home.pods('postgres'))[0]?.metadata.uid !== before?.metadata.uid,
      ROLL_MS,
    );
    await rest();
    expect((await home.owner.listLibraries()).status).to.equal(200);

    await remove('home-postgres');
    await home.reaches('DatabaseReady', 'False SecretLost');
    const annotations = { 'foyer.media/replace-secrets': 'home-postgres' };
    await home.kubectl.patch(home.named('mediaserver', 'home'), { metadata: { annotations } });
    await home.reaches('DatabaseReady', 'True Connected', ROLL_MS);
    await rest();
    expect(await home.secret('home-postgres', 'uri')).to.not.equal(uri);
    expect(await idOfServer()).to.equal(serverId);
    expect((await home.owner.listLibraries()).status).to.equal(200);
  });

  it('say what is wrong with a half-changed one, while the server goes on', async () => {
    const before = await uids();
    await home.kubectl.patch(home.named('secret', 'home-postgres'), { stringData: { password: 'a-third' } });
    await home.reaches('DatabaseReady', 'False SecretInvalid');
    expect(await uids()).to.deep.equal(before);
    expect((await home.owner.listLibraries()).status).to.equal(200);
  });
});
