// Resources that `kubectl apply` refuses, each with the path of the invalid field. Rows: field, bad value, and the
// reported path where it is another one.
import { expect } from 'chai';
import { controlPlane, UP_MS } from './support/cluster.ts';
import type { Kubectl, Ran } from './support/kubectl.ts';
import { fieldPath, library, mediaServer, plurals, type Resource, tunerDevice, withField } from './support/specs.ts';

type Row = [field: string, value: unknown, message?: string];

const long = (length: number) => 'x'.repeat(length);
const claim = { persistentVolumeClaim: { claimName: 'films' } };
const bucket = { endpoint: 'https://s3.example', bucket: 'foyer', secretRef: { name: 's3' } };
const digest = `sha256:${'0'.repeat(64)}`;

const servers: Row[] = [
  ['postgres', undefined],
  ['redis', undefined],
  ['objects', undefined],
  ['postgres', {}],
  ['postgres', { managed: {}, secretRef: { name: 'db' } }],
  ['postgres', { manged: {} }, 'spec.postgres.manged'],
  ['postgres', { secretRef: {} }, 'spec.postgres.secretRef.name'],
  ['postgres', { secretRef: { name: 'Not A Name' } }, 'spec.postgres.secretRef.name'],
  ['postgres', { managed: { storage: 'ten' } }, 'spec.postgres.managed.storage'],
  ['postgres', { cloudNativePG: { instances: 0, storage: '1Gi' } }, 'spec.postgres.cloudNativePG.instances'],
  ['postgres', { cloudNativePG: { instances: 1 } }, 'spec.postgres.cloudNativePG.storage'],
  ['redis', { managed: {}, secretRef: { name: 'redis' } }],
  ['objects', {}],
  ['objects', { managed: {}, bucketPrefix: 'UPPER' }, 'spec.objects.bucketPrefix'],
  ['version', 'not a tag'],
  ['registry', ''],
  ['registry', 'https://mirror.example'],
  ['image', 'mirror.example:5000/foyer:1.0.0'],
  ['image', `foyer@${digest}`],
  ['imagePullPolicy', 'Sometimes'],
  ['imagePullSecrets', [{ name: 'a' }, { name: 'a' }], 'spec.imagePullSecrets[1]'],
  ['api/replicas', -1],
  ['api/replicas', 101],
  ['api/replicas', 'two'],
  ['api/autoscaling', { min: 5, max: 2 }],
  ['api/autoscaling', { targetCPU: 5 }, 'spec.api.autoscaling.targetCPU'],
  ['api/resources', { limits: { memory: 'lots' } }, 'spec.api.resources.limits.memory'],
  ['api/resources', { claims: [{ name: 'gpu' }] }, 'spec.api.resources.claims'],
  ['api/topologySpread', [{ topologyKey: 'zone', whenUnsatisfiable: 'Perhaps' }], 'spec.api.topologySpread[0].when'],
  ['workers/replicas', 1.5],
  ['ingress', { className: 'nginx' }, 'spec.ingress.host'],
  [
    'ingress',
    { host: 'a.example', tls: { issuerRef: { name: 'a', kind: 'issuer' } } },
    'spec.ingress.tls.issuerRef.kind',
  ],
  ['ingress', { host: 'a.example', tls: {} }, 'spec.ingress.tls'],
  ['ingress', { host: 'a.example', tls: { secretName: 'a', issuerRef: { name: 'b' } } }, 'spec.ingress.tls'],
  ['gateway', { parentRefs: [] }, 'spec.gateway.parentRefs'],
  ['gateway', { parentRefs: [{ name: 'gw', port: 70_000 }] }, 'spec.gateway.parentRefs[0].port'],
  ['media/0', { name: 'films' }],
  ['media/0', { name: 'Films', ...claim }, 'spec.media[0].name'],
  ['media/0', { name: 'films', ...claim, hostPath: { path: '/srv' } }],
  ['media/1', { name: 'films', ...claim }],
  ['media/0', { name: 'films', persistentVolumeClaim: { claimName: 'films', subPath: '../x' } }, 'spec.media[0].pers'],
  ['media/0', { name: 'films', nfs: { server: 'nas' } }, 'spec.media[0].nfs.path'],
  ['media/0', { name: 'films', s3: { ...bucket, endpoint: 'ftp://x' } }, 'spec.media[0].s3.endpoint'],
  ['transcode/max', 65],
  ['transcode/sessionsPerJob', 0],
  ['transcode/idleSeconds', 1],
  ['transcode/fallbackToCPU', 'yes'],
  ['transcode/accelerator', { resourceName: 'nvidia.com/gpu', kind: 'cuda' }, 'spec.transcode.accelerator.kind'],
  ['transcode/accelerator', { kind: 'nvenc' }, 'spec.transcode.accelerator.resourceName'],
  ['subtitles', { replicas: 1, scaleToZero: true }],
  ['subtitles', { language: 'English' }, 'spec.subtitles.language'],
  ['subtitles', { modelVolume: {} }, 'spec.subtitles.modelVolume'],
  ['subtitles', { model: '../base' }, 'spec.subtitles.model'],
  ['subtitles', { idleSeconds: 1 }, 'spec.subtitles.idleSeconds'],
  ['subtitles', { modelObjects: { prefix: 'a/../b', sha256: 'a'.repeat(64) } }, 'spec.subtitles.modelObjects.prefix'],
  ['subtitles', { modelObjects: { prefix: 'base/', sha256: 'A' } }, 'spec.subtitles.modelObjects.sha256'],
  [
    'subtitles',
    { modelObjects: { prefix: 'base/', sha256: 'a'.repeat(64) }, modelVolume: { hostPath: { path: '/models' } } },
    'spec.subtitles',
  ],
  ['settings/server.name', ''],
  ['settings/server.colour', 'red'],
  ['settings/playback.watchedPercent', 100],
  ['settings/auth.oidc.clientSecret', 'plain text'],
  ['settings/auth.oidc.roleMap', { family: 'owner' }, 'spec.settings.auth.oidc.roleMap'],
  ['network/trustedProxies', ['everywhere'], 'spec.network.trustedProxies[0]'],
  ['network/trustedProxies', ['10.0.0.0/8', '10.0.0.0/33'], 'spec.network.trustedProxies[1]'],
  ['network/allow', { webhooks: ['2001:db8::/129'] }, 'spec.network.allow.webhooks[0]'],
  ['oidc', { issuer: 'nowhere', clientId: 'a', clientSecretRef: { name: 'a' } }, 'spec.oidc.issuer'],
  ['plugins/allowed', [{ id: 'a', image: 'plugin:latest' }], 'spec.plugins.allowed[0].image'],
  [
    'plugins/allowed',
    [{ id: 'a', image: `p@${digest}`, package: { url: 'https://x.example', sha256: '0' } }],
    'spec.plug',
  ],
  ['plugins/install', [{ id: 'a' }], 'spec.plugins.install[0]'],
  ['backup', { schedule: 'daily', destination: { s3: bucket } }, 'spec.backup.schedule'],
  ['backup', { destination: {} }, 'spec.backup.destination.s3'],
  ['plus', { verifierKeys: { jwks: '{}', configMapRef: { name: 'a' } } }, 'spec.plus.verifierKeys'],
  ['suspend', 'no'],
  ['replicas', 3],
];

const libraries: Row[] = [
  ['serverRef', undefined],
  ['serverRef', { name: '' }, 'spec.serverRef.name'],
  ['type', undefined],
  ['type', 'films'],
  ['displayName', long(81)],
  ['folders', [{ path: '/' }], 'spec.folders[0].media'],
  ['folders', [{ media: 'films', path: '/a/../b' }], 'spec.folders[0].path'],
  ['folders', [{ media: 'films', path: '..' }], 'spec.folders[0].path'],
  ['agents', ['tmdb', 'tmdb'], 'spec.agents[1]'],
  ['country', 'Germany'],
  ['access', {}],
  ['access', { everyone: true, roles: ['child'] }],
  ['access', { everyone: false }, 'spec.access.everyone'],
  ['access', { roles: ['owner'] }, 'spec.access.roles[0]'],
  ['ageLimit', 22],
  ['scan/schedule', '* * *'],
  ['scan/schedule', '61 25 32 13 9'],
  ['scan/schedule', '0 0 31 2 *'],
  ['folders', [{ media: 'films' }, { media: 'films', path: '/' }], 'spec.folders[1]'],
  ['order', -1],
  ['deletionPolicy', 'Orphan'],
];

const tuners: Row[] = [
  ['source', undefined],
  ['source', {}],
  ['source', { m3u: {} }, 'spec.source.m3u'],
  ['source', { m3u: { url: 'http://tv.example', maxStreams: 0 } }, 'spec.source.m3u.maxStreams'],
  ['source', { hdhomerun: { address: 'tv', deviceId: '12345678' } }, 'spec.source.hdhomerun'],
  ['source', { hdhomerun: { deviceId: 'nothexxx' } }, 'spec.source.hdhomerun.deviceId'],
  ['source', { hdhomerun: { address: 'tv' }, m3u: { url: 'http://tv.example' } }],
  ['guide', { device: true, xmltv: { url: 'http://tv.example/guide' } }],
  ['guide', { refresh: 'hourly' }, 'spec.guide.refresh'],
  ['guide', { days: 31 }, 'spec.guide.days'],
  ['channels/include', ['a/b'], 'spec.channels.include[0]'],
  ['timeshift/minutes', 361],
  ['timeshift/storage', { emptyDir: {}, persistentVolumeClaim: { claimName: 'a' } }],
  ['timeshift/storage', { emptyDir: { sizeLimit: '-' } }, 'spec.timeshift.storage.emptyDir.sizeLimit'],
  ['recordings', {}, 'spec.recordings.media'],
];

/** Changes to a resource that is there. */
const changes: [Resource, object, string][] = [
  [library('films'), { type: 'shows' }, 'spec.type'],
  [library('films'), { serverRef: { name: 'other' } }, 'spec.serverRef'],
  [tunerDevice('tv'), { source: { m3u: null, hdhomerun: { address: 'tv' } } }, 'spec.source'],
];

const tables: [Resource, Row[]][] = [
  [mediaServer('home'), servers],
  [library('films'), libraries],
  [tunerDevice('tv'), tuners],
];

function create(kubectl: Kubectl, resource: Resource): Promise<Ran> {
  const plural = plurals[resource.kind];
  const path = `/apis/foyer.media/v1alpha1/namespaces/default/${plural}?dryRun=All&fieldValidation=Strict`;
  return kubectl.attempt(['create', '--raw', path, '-f', '-'], JSON.stringify(resource));
}

describe('bad specs', () => {
  let kubectl: Kubectl;

  before(async function () {
    this.timeout(UP_MS);
    ({ kubectl } = await controlPlane());
    await kubectl.installKinds();
  });

  it('are more than 60', () => {
    expect(tables.flatMap(([, rows]) => rows).length + changes.length).to.be.greaterThan(60);
  });

  for (const [good, rows] of tables) {
    it(`of a ${good.kind} are the fault of the field alone`, async () => {
      const { code, err } = await create(kubectl, good);
      expect(code, err).to.equal(0);
    });

    for (const [field, value, message = fieldPath(field)] of rows)
      it(`${good.kind} ${field} ${JSON.stringify(value)?.slice(0, 60) ?? 'absent'}`, async () => {
        const { code, err } = await create(kubectl, withField(good, field, value));
        expect(code, 'accepted').not.to.equal(0);
        expect(err).to.include(message);
      });
  }

  for (const [made, spec, message] of changes)
    it(`${made.kind} changed to ${JSON.stringify(spec)}`, async () => {
      const namespace = await kubectl.namespace('bad-specs');
      await kubectl.apply({ ...made, metadata: { ...made.metadata, namespace } });
      const where = ['-n', namespace, plurals[made.kind] ?? '', made.metadata.name];
      const { code, err } = await kubectl.attempt(['patch', ...where, '--type=merge', '-p', JSON.stringify({ spec })]);
      await kubectl.deleteNamespace(namespace);
      expect(code, 'accepted').not.to.equal(0);
      expect(err).to.include(message);
    });
});
