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
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  const idOfServer = async (): Promise<string> => (await home.owner.getServerInfo()).body.id;
  /** Deleted until it stays so: a pass that had observed it puts it back as it was. */
  const lose = (name: string, type: string): Promise<unknown> =>
    until(`${name} is lost`, async () => {
      await home.kubectl.run(['delete', 'secret', name, '-n', home.namespace, '--ignore-not-found']);
      return (await home.condition(type)) === 'False SecretLost';
    });
  const message = async (type: string): Promise<string> =>
    (await home.status()).conditions?.find((one) => one.type === type)?.message ?? '';

  /** The command that the condition gives, as a person runs it in a shell. */
  async function runCommandOf(type: string): Promise<void> {
    const command = /running pods: (kubectl .*)$/.exec(await message(type))?.[1] ?? '';
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
  /** The server answers its owner, whose session stays. */
  const answers = (): Promise<unknown> =>
    until('an answer to the owner', async () => {
      const signal = AbortSignal.timeout(5000); // a connection of a pod that went may never answer
      const answer = await fetch(`${home.url}/api/v1/libraries`, { headers: home.headers, signal }).catch(
        () => undefined,
      );
      return answer?.status === 200;
    });
  /** Runs it, and waits until no earlier pod of that component is left. */
  async function replaced(component: string, change: () => Promise<unknown>): Promise<void> {
    const names = async (): Promise<(string | undefined)[]> =>
      (await home.pods(component)).map(({ metadata }) => metadata.uid);
    const before = await names();
    await change();
    const isNew = async (): Promise<boolean> => {
      const now = await names();
      return now.length === before.length && !now.some((uid) => before.includes(uid));
    };
    await until(`other pods of ${component}`, isNew, ROLL_MS);
  }
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
      await lose(name, type);
      expect(await home.condition('Ready')).to.equal('True AllReady');
      await runCommandOf(type);
      await rest();
      expect(await uids()).to.deep.equal(before);
      const now = (await home.kubectl.find<KubeObject>(home.named('secret', name)))?.data as Record<string, string>;
      for (const [key, value] of Object.entries(now)) expect(value, key).to.equal((values as typeof now)[key]);
      expect(await idOfServer()).to.equal(serverId);
      await answers();
    });

  it('give the database another password, of a changed Secret and of one that was created again', async () => {
    const uri = 'postgres://foyer:second-password@home-postgres:5432/foyer';
    const stringData = { password: 'second-password', uri };
    await replaced('api', () => home.kubectl.patch(home.named('secret', 'home-postgres'), { stringData }));
    await rest();
    await answers();

    await lose('home-postgres', 'DatabaseReady');
    const server = await home.kubectl.find<KubeObject>(home.named('mediaserver', 'home'));
    const annotations = { 'foyer.media/replace-secrets': `home-postgres@${server?.metadata.uid}` };
    await replaced('api', () => home.kubectl.patch(home.named('mediaserver', 'home'), { metadata: { annotations } }));
    await rest();
    expect(await home.secret('home-postgres', 'uri')).to.not.equal(uri);
    await answers();
    expect(await idOfServer()).to.equal(serverId);
  });

  it('open a database that was killed, whose files state that it still runs', async () => {
    const kill = ['delete', 'pod', 'home-postgres-0', '-n', home.namespace, '--grace-period=0', '--force'];
    await replaced('postgres', () => home.kubectl.run(kill));
    await home.reaches('DatabaseReady', 'True Connected');
    await rest();
    await answers();
  });

  it('report the fault of a half-changed one, while the server continues', async () => {
    const before = await uids();
    await home.kubectl.patch(home.named('secret', 'home-postgres'), { stringData: { password: 'a-third' } });
    await home.reaches('DatabaseReady', 'False SecretInvalid');
    expect(await uids()).to.deep.equal(before);
    await answers();
  });
});
