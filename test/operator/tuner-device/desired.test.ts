import { expect } from 'chai';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { TunerDeviceSpec } from '#operator/schemas/tuner-device.ts';
import { tunerObjects } from '#operator/tuner-device/desired.ts';

const images = { foyer: 'foyer:latest', postgres: 'p:1', redis: 'r:1', minio: 'm:1' };
const spec = TunerDeviceSpec.parse({ serverRef: { name: 'home' }, source: { m3u: { url: 'http://x/' } } });
const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };

function made(live: string[], source: object = spec.source, secrets: Map<string, Record<string, string>> = new Map()) {
  const server = { name: 'home', spec: MediaServerSpec.parse({ ...stores, network: { allow: { live } } }) };
  return tunerObjects({
    name: 'tv',
    namespace: 'media',
    spec: { ...spec, source },
    server,
    images,
    secrets,
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

  describe('is read by the workers', () => {
    const NEAR = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
    const url = 'http://10.9.8.7/list.m3u';
    const cases: [string, object, Map<string, Record<string, string>>, unknown][] = [
      ['by its address alone', { hdhomerun: { address: '192.168.1.20:8080' } }, new Map(), ['192.168.1.20/32']],
      ['by IPv6', { hdhomerun: { address: 'fd00::20' } }, new Map(), ['fd00::20/128']],
      ['by a name', { hdhomerun: { address: 'hdhr.lan' } }, new Map(), [...NEAR, 80, 5004]],
      ['by a broadcast', { hdhomerun: { deviceId: '10AA5474' } }, new Map(), NEAR],
      ['by a row of the server', { m3u: { maxStreams: 2 } }, new Map(), NEAR],
      ['by a playlist', { m3u: { url: 'http://list.lan:34400/x' } }, new Map(), [...NEAR, 34_400]],
      [
        ...(['by a playlist of a Secret', { m3u: { urlSecretRef: { name: 's', key: 'url' } } }] as const),
        ...([new Map([['s', { url }]]), ['10.9.8.7/32']] as const),
      ],
      ...['169.254.169.254', '100.100.100.200', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '127.0.0.1'].map(
        (host): (typeof cases)[number] => [
          `but not at ${host}`,
          { m3u: { url: `http://${host}/` } },
          new Map(),
          undefined,
        ],
      ),
    ];
    for (const [title, source, secrets, expected] of cases)
      it(title, () => {
        const policy = made([], source, secrets).find(({ metadata }) => metadata.name === 'tv-tuner-reading')?.spec;
        const { egress: rules, podSelector } = (policy ?? { egress: [] }) as {
          egress: { to: { ipBlock: { cidr: string } }[]; ports?: { port: number }[] }[];
          podSelector?: { matchLabels: object };
        };
        const opened = rules.flatMap(({ to, ports = [] }) => [
          ...to.map(({ ipBlock }) => ipBlock.cidr),
          ...ports.map(({ port }) => port),
        ]);
        expect(policy && opened).to.deep.equal(expected);
        if (policy) expect(podSelector?.matchLabels).to.include({ 'app.kubernetes.io/component': 'workers' });
      });

    it('by private networks without the metadata services in them', () => {
      const policy = made([], { hdhomerun: {} }).find(({ metadata }) => metadata.name === 'tv-tuner-reading')
        ?.spec as Egress;
      const except = policy.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock.except ?? []));
      expect(except).to.deep.equal(['100.100.100.200/32', 'fd00:ec2::254/128']);
    });

    it('by no policy of its own where the server names its networks', () => {
      const names = made(['192.168.7.0/24'], { hdhomerun: { address: '192.168.1.20' } }).map(
        ({ metadata }) => metadata.name,
      );
      expect(names).to.not.include('tv-tuner-reading');
    });
  });
});
