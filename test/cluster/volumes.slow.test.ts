// One claim with films and shows in its folders, as from a NAS, filled as the README describes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { temporaryFolder } from '#support/stores.ts';
import { images, UP_MS } from './support/cluster.ts';
import { type Home, inNamespace, startHome } from './support/home.ts';

describe('a server with two media entries on one claim', function () {
  this.timeout(300_000);
  let home: Home;

  before(async function () {
    this.timeout(UP_MS);
    const on = (subPath: string) => ({ persistentVolumeClaim: { claimName: 'films', subPath } });
    const media = [
      { name: 'films', ...on('films') },
      { name: 'shows', ...on('shows') },
    ];
    home = await startHome({ name: 'volumes', spec: { media, api: { replicas: 1 } } });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  it('has pods that kubelet starts, on one node, with a folder each', async () => {
    for (const component of ['api', 'workers', 'transcode']) {
      const [pod] = await home.pods(component);
      const { volumes = [], affinity } = (pod?.spec ?? {}) as {
        volumes?: { persistentVolumeClaim?: object }[];
        affinity?: object;
      };
      expect(volumes.filter(({ persistentVolumeClaim: claim }) => claim)).to.have.length(1);
      expect(JSON.stringify(affinity)).to.contain('podAffinity');
      const folders = await home.kubectl.run([
        'exec',
        pod?.metadata.name ?? '',
        '-n',
        home.namespace,
        '--',
        'ls',
        '/media',
      ]);
      expect(folders.split(/\s+/)).to.include.members(['films', 'shows']);
    }
    const { message } = (await home.status()).conditions?.find(({ type }) => type === 'MediaReady') ?? {};
    expect(message).to.contain('films: ReadWriteOnce').and.to.contain('one node');
  });

  it('finds films that were copied into the claim by the sample', async () => {
    const [image = ''] = await images('product');
    const [pod] = inNamespace('manifests/samples/copy-films.yaml', home.namespace);
    const text = JSON.stringify(pod).replace(/docker.io\/library\/busybox:[\d.]+/, image);
    await home.kubectl.apply(JSON.parse(text) as KubeObject);
    await home.kubectl.wait(home.named('pod', 'copy-films'), 'condition=Ready', 60);
    const folder = join(temporaryFolder('copied'), 'films');
    const film = join(folder, 'Metropolis (1927)', 'Metropolis (1927).mp4');
    mkdirSync(join(folder, 'Metropolis (1927)'), { recursive: true });
    execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=d=2:s=160x90', '-c:v', 'libx264', film]);
    utimesSync(film, 1.5e9, 1.5e9); // long ago, so that a scan takes it for complete
    await home.kubectl.run(['cp', folder, `${home.namespace}/copy-films:/media`]);
    await home.kubectl.run(['delete', 'pod', 'copy-films', '-n', home.namespace]);
    const annotated = { metadata: { annotations: { 'foyer.media/scan': 'now' } } };
    await home.kubectl.patch(home.named('library', 'films'), annotated);
    const [found] = await home.films(1);
    expect(found?.title).to.equal('Metropolis');
  });
});
