// hack/cluster up after a part of the cluster, or all of it, has ended: objects and volumes stay.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { UP_MS } from './support/cluster.ts';
import { until } from './support/until.ts';

const run = promisify(execFile);
/** In addition to that of the other tests, which it leaves alone: it has no node. */
const env = { ...process.env, FOYER_CLUSTER: '8' };
const cluster = async (...words: string[]): Promise<string> =>
  (await run('hack/cluster', words, { env })).stdout.trim();

describe('hack/cluster up', function () {
  this.timeout(UP_MS);
  let state = '';

  before(async () => {
    await cluster('down');
    await cluster('up', '--control-plane');
    state = dirname(await cluster('kubeconfig'));
    await cluster('kubectl', 'create', 'configmap', 'kept');
    const claim = join(state, 'claim.yaml');
    const spec = 'accessModes: [ReadWriteOnce]\n  resources: { requests: { storage: 1Mi } }';
    writeFileSync(claim, `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: films }\nspec:\n  ${spec}\n`);
    await cluster('kubectl', 'apply', '-f', claim);
    await until('a volume', () => readdirSync(join(state, 'volumes')).length > 0);
    writeFileSync(join(volume(), 'film.mkv'), 'a film');
  });
  after(() => cluster('down'));

  const volume = (): string => join(state, 'volumes', readdirSync(join(state, 'volumes'))[0] ?? '');

  for (const parts of [
    ['kube-apiserver'],
    ['provisioner', 'kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'],
  ])
    it(`keeps objects and volumes when ${parts.length === 1 ? 'only the API server' : 'everything'} is gone`, async () => {
      for (const part of parts) {
        const pid = Number(readFileSync(join(state, 'pid', part), 'utf8'));
        process.kill(pid, 'SIGKILL');
        await until(`the end of ${part}`, () => !existsSync(`/proc/${pid}/exe`));
      }
      await cluster('up', '--control-plane');
      expect(await cluster('kubectl', 'get', 'configmap', 'kept', '-o', 'name')).to.equal('configmap/kept');
      expect(readFileSync(join(volume(), 'film.mkv'), 'utf8')).to.equal('a film');
    });

  it('is followed by down, which leaves nothing', async () => {
    await cluster('down');
    expect(existsSync(state)).to.equal(false);
  });
});
