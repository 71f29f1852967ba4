import { expect } from 'chai';
import { CHECKSUM } from '#operator/media-server/desired/pod.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import { tunerDeviceController } from '#operator/tuner-device/controller.ts';
import { ServerTuners } from '#operator/tuner-device/server-tuners.ts';
import { images, MemoryKube, mediaServer, secret } from '../media-server/support.ts';

const KEY = { namespace: 'media', name: 'tv' };
const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
const bucket = { endpoint: 'http://s3/', bucket: 'films', secretRef: { name: 's3' } };

function cluster(spec: object, media: object[] = []) {
  const kube = new MemoryKube();
  const put = (object: KubeObject): void => void kube.objects.set(idOf(object), object);
  put(mediaServer({ ...stores, media }));
  put(secret('home-keys', { 'keys.json': JSON.stringify({ serverId: 'x', cursor: 'c' }) }));
  const tuner = { serverRef: { name: 'home' }, source: { m3u: { urlSecretRef: { name: 'list' } } }, ...spec };
  const metadata = { name: 'tv', namespace: 'media', uid: 'tv-uid', generation: 1 };
  put({ apiVersion: 'foyer.media/v1alpha1', kind: 'TunerDevice', metadata, spec: tuner });
  const controller = tunerDeviceController({ images, servers: new ServerTuners(), tunerUrl: 'http://127.0.0.1:9' });
  const pass = async (): Promise<Condition | undefined> => {
    await controller.reconcile(KEY, kube, new Date());
    const { conditions = [] } = (kube.get('TunerDevice', 'media', 'tv')?.status ?? {}) as { conditions?: Condition[] };
    return conditions.find(({ type }) => type === 'Ready');
  };
  const template = (): string => JSON.stringify(kube.get('Deployment', 'media', 'tv-tuner')?.spec ?? {});
  return { kube, put, pass, template };
}

const idOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;

describe('TunerDevice', () => {
  it('waits for its Secret, reports the fault of its value, and never the value', async () => {
    const { put, pass, kube, template } = cluster({});
    expect(await pass()).to.include({ status: 'False', reason: 'SecretMissing' });
    put(secret('list', { url: 'ftp://canary-secret' }));
    const next = await pass();
    expect(next).to.include({ status: 'False', reason: 'SecretInvalid' });
    expect(next?.message).to.match(/^spec\.source\.m3u\.urlSecretRef: Secret list with the key url holds no HTTP URL/);
    expect(kube.get('Deployment', 'media', 'tv-tuner')).to.equal(undefined);
    put(secret('list', { url: 'http://provider/list?password=canary-secret' }));
    expect(await pass()).to.include({ reason: 'Starting' });
    expect(JSON.stringify([...kube.objects.values()].filter(({ kind }) => kind !== 'Secret'))).to.not.include('canary');
    const before = template();
    put(secret('list', { url: 'http://provider/list?password=other' }));
    await pass();
    expect(template(), 'a changed Secret rolls the pod').to.include(CHECKSUM).and.not.equal(before);
  });

  it('records where a pod can mount and write, and nowhere else', async () => {
    const claim = { persistentVolumeClaim: { claimName: 'c' } };
    const media = [
      { name: 'kept', ...claim, readOnly: true },
      { name: 'bucket', s3: bucket, readOnly: false },
      { name: 'shows', ...claim, readOnly: false },
    ];
    const reasons = [];
    for (const name of ['none', 'kept', 'bucket', 'shows']) {
      const source = { m3u: { url: 'http://x/' } };
      const { pass, template } = cluster({ source, recordings: { media: name } }, media);
      reasons.push((await pass())?.reason);
      expect(template().includes('/media/'), name).to.equal(name === 'shows');
    }
    expect(reasons).to.deep.equal(['MediaUnknown', 'MediaUnknown', 'MediaUnknown', 'Starting']);
  });
});
