import { expect } from 'chai';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { TunerDeviceSpec } from '#operator/schemas/tuner-device.ts';
import { tunerObjects } from '#operator/tuner-device/desired.ts';

const images = { foyer: 'foyer:latest', postgres: 'p:1', redis: 'r:1', minio: 'm:1' };
const spec = TunerDeviceSpec.parse({ serverRef: { name: 'home' }, source: { m3u: { url: 'http://x/' } } });
const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };

function made(live: string[]) {
  const server = { name: 'home', spec: MediaServerSpec.parse({ ...stores, network: { allow: { live } } }) };
  return tunerObjects({
    name: 'tv',
    namespace: 'media',
    spec,
    server,
    images,
    secrets: new Map(),
    oneNode: new Set<string>(),
  });
}

interface Egress {
  egress: { to: { ipBlock: { cidr: string; except?: string[] } }[] }[];
}

describe('the pod of a tuner', () => {
  for (const live of [[], ['192.168.7.0/24']])
    it(`never reaches the metadata addresses of nodes${live.length > 0 ? ', where networks are named either' : ''}`, () => {
      const policy = made(live).find(({ kind }) => kind === 'NetworkPolicy')?.spec as Egress;
      const blocks = policy.egress.flatMap(({ to }) => to.map(({ ipBlock }) => ipBlock));
      const of = (cidr: string) => blocks.find((block) => block.cidr === cidr)?.except;
      expect(of('0.0.0.0/0')).to.include('169.254.0.0/16');
      expect(of('::/0')).to.include('fe80::/10');
      expect(of('0.0.0.0/0')?.includes('192.168.0.0/16'), 'the house is open until networks are named').to.equal(
        live.length > 0,
      );
      for (const cidr of live) expect(blocks).to.deep.include({ cidr });
    });

  it('names the claim of recordings and timeshift once', () => {
    const persistentVolumeClaim = { claimName: 'tv' };
    const media = [
      { name: 'recordings', persistentVolumeClaim: { ...persistentVolumeClaim, subPath: 'rec' }, readOnly: false },
    ];
    const timeshift = { storage: { persistentVolumeClaim } };
    const device = TunerDeviceSpec.parse({ ...spec, timeshift, recordings: { media: 'recordings' } });
    const server = { name: 'home', spec: MediaServerSpec.parse({ ...stores, media }) };
    const objects = tunerObjects({
      name: 'tv',
      namespace: 'media',
      spec: device,
      server,
      images,
      secrets: new Map(),
      oneNode: new Set<string>(),
    });
    const { template } = (objects.find(({ kind }) => kind === 'Deployment')?.spec ?? {}) as {
      template: { spec: { volumes: { name: string }[]; containers: { volumeMounts: object[] }[] } };
    };
    expect(template.spec.volumes.map(({ name }) => name)).to.deep.equal(['tmp', 'timeshift']);
    expect(template.spec.containers[0]?.volumeMounts).to.deep.include.members([
      { name: 'timeshift', mountPath: '/timeshift' },
      { name: 'timeshift', mountPath: '/media/recordings', subPath: 'rec' },
    ]);
  });

  it('takes an image that is there already, as every other pod does', () => {
    const { template } = (made([]).find(({ kind }) => kind === 'Deployment')?.spec ?? {}) as {
      template: { spec: { containers: { imagePullPolicy: string }[] } };
    };
    expect(template.spec.containers[0]?.imagePullPolicy).to.equal('IfNotPresent');
  });
});
