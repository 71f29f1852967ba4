// Changes written by hand: the state that each must reach, or the fault that must be reported for it.
import type { Change, Expected, Mutation, Place } from './mutation.ts';

type Kind = Mutation['kind'];

const place = (path: string): Place => path.split('/').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
const changesOf = (changes: Record<string, unknown>): Change[] =>
  Object.entries(changes).map(([path, value]) => ({ at: place(path), value }));

const make =
  (kind: Kind, misoperation: boolean) => (name: string, changes: Record<string, unknown>, expected: Expected) => ({
    ...{ kind, name, misoperation, expected },
    changes: changesOf(changes),
  });

const wrong = make('MediaServer', true);
const good = make('MediaServer', false);
const stalled = (reason: string, says: RegExp): Expected => ({
  condition: `Stalled True ${reason}`,
  says,
  serves: true,
});
const refused = (says: RegExp): Expected => ({ refused: says });
const resources = (requests: object, limits?: object): object => ({ requests, ...(limits && { limits }) });
const gpu = { resourceName: 'nvidia.com/gpu', kind: 'nvenc' };

/** Secrets and ConfigMaps that the test makes: `spare` has everything, `empty` nothing, `odd` values that are no addresses. */
const missing = ['database', 'cache', 's3', 'mail', 'owner', 'settings'].map((name) => `no-such-${name}`);
const [database, cache, s3, mail, owner, settings] = missing as [string, string, string, string, string, string];

const secretsOfServers: Mutation[] = [
  wrong(
    'database of a Secret that is missing',
    { postgres: { secretRef: { name: database } } },
    stalled('SecretMissing', /no-such-database/),
  ),
  wrong(
    'database of a Secret without the key',
    { postgres: { secretRef: { name: 'spare', key: 'nothing' } } },
    stalled('SecretInvalid', /nothing/),
  ),
  wrong(
    'database of a Secret that is empty',
    { postgres: { secretRef: { name: 'empty' } } },
    stalled('SecretInvalid', /empty/),
  ),
  wrong(
    'database at an invalid address',
    { postgres: { secretRef: { name: 'odd' } } },
    stalled('SecretInvalid', /not a URL/),
  ),
  wrong(
    'Redis of a Secret that is missing',
    { redis: { secretRef: { name: cache } } },
    stalled('SecretMissing', /no-such-cache/),
  ),
  wrong(
    'Redis at an invalid address',
    { redis: { secretRef: { name: 'odd' } } },
    stalled('SecretInvalid', /not a URL/),
  ),
  wrong(
    'Redis at the address of a database',
    { redis: { secretRef: { name: 'spare', key: 'postgres' } } },
    stalled('SecretInvalid', /not a URL/),
  ),
  wrong(
    'object store of a Secret that is missing',
    { objects: { secretRef: { name: s3 } } },
    stalled('SecretMissing', /no-such-s3/),
  ),
  wrong(
    'object store of a Secret without keys',
    { objects: { secretRef: { name: 'empty' } } },
    stalled('SecretInvalid', /endpoint/),
  ),
  wrong(
    'object store at an invalid address',
    { objects: { secretRef: { name: 'odd' } } },
    stalled('SecretInvalid', /endpoint/),
  ),
  wrong(
    'mail of a Secret that is missing',
    { email: { secretRef: { name: mail } } },
    stalled('SecretMissing', /no-such-mail/),
  ),
  wrong(
    'mail of a Secret without a host',
    { email: { secretRef: { name: 'empty' } } },
    stalled('SecretInvalid', /host/),
  ),
  wrong(
    'owner of a Secret that is missing',
    { ownerSecretRef: { name: owner } },
    stalled('SecretMissing', /no-such-owner/),
  ),
  wrong(
    'owner of a Secret without a password',
    { ownerSecretRef: { name: 'empty' } },
    stalled('SecretInvalid', /empty/),
  ),
  wrong(
    'setting of a Secret that is missing',
    { 'settings/music.listenBrainzToken': { secretRef: { name: settings, key: 'token' } } },
    stalled('SecretMissing', /no-such-settings/),
  ),
  wrong(
    'setting of a Secret without the key',
    { 'settings/email.smtp.password': { secretRef: { name: 'spare', key: 'nothing' } } },
    stalled('SecretInvalid', /nothing/),
  ),
  wrong(
    'sign-in of a Secret that is missing',
    { oidc: { issuer: 'https://login.example', clientId: 'foyer', clientSecretRef: { name: 'no-such-oidc' } } },
    stalled('SecretMissing', /no-such-oidc/),
  ),
  wrong(
    'branding of a ConfigMap that is missing',
    { branding: { configMapRef: { name: 'no-such-brand' } } },
    stalled('ConfigMapMissing', /no-such-brand/),
  ),
  wrong(
    'declared bodies of a ConfigMap that is missing',
    { declared: [{ configMapRef: { name: 'no-such-bodies' } }] },
    stalled('ConfigMapMissing', /no-such-bodies/),
  ),
  wrong(
    'licence of a Secret that is missing',
    { plus: { licenceSecretRef: { name: 'no-such-licence' } } },
    stalled('SecretMissing', /no-such-licence/),
  ),
  wrong(
    'media bucket of a Secret that is missing',
    {
      'media/2': {
        name: 'cloud',
        s3: { endpoint: 'https://s3.example', bucket: 'cloud', secretRef: { name: 'no-such-bucket' } },
      },
    },
    stalled('SecretMissing', /no-such-bucket/),
  ),
];

const volumesOfServers: Mutation[] = [
  wrong(
    'media on a claim that is missing',
    { 'media/2': { name: 'shows', persistentVolumeClaim: { claimName: 'no-such-claim' } } },
    stalled('VolumeMissing', /no-such-claim/),
  ),
  wrong(
    'all media on a claim that is missing',
    { 'media/0/persistentVolumeClaim/claimName': 'no-such-films' },
    stalled('VolumeMissing', /no-such-films/),
  ),
  wrong(
    'speech model on a claim that is missing',
    { subtitles: { modelVolume: { persistentVolumeClaim: { claimName: 'no-such-models' } } } },
    stalled('VolumeMissing', /no-such-models/),
  ),
  wrong(
    'a larger database',
    { 'postgres/managed/storage': '5Gi' },
    { condition: 'SettingsValid False CannotChange', says: /1Gi/, serves: true },
  ),
  wrong(
    'a smaller object store',
    { 'objects/managed/storage': '100Mi' },
    { condition: 'SettingsValid False CannotChange', says: /1Gi/, serves: true },
  ),
  wrong(
    'a database by an operator that is not there',
    { postgres: { cloudNativePG: { storage: '1Gi' } } },
    stalled('NotServed', /CloudNativePG/),
  ),
];

const conflicts: Mutation[] = [
  wrong(
    'workers that request more than they may use',
    { 'workers/resources': resources({ memory: '4Gi' }, { memory: '1Gi' }) },
    stalled('Refused', /memory/),
  ),
  wrong(
    'an API that requests more than it may use',
    { 'api/resources': resources({ cpu: '8' }, { cpu: '1' }) },
    stalled('Refused', /cpu/),
  ),
  wrong(
    'a resource that has no such name',
    { 'workers/resources': resources({ 'not a name': '1' }) },
    stalled('Refused', /not a name/),
  ),
  wrong('a negative amount', { 'api/resources': resources({ memory: '-1Gi' }) }, stalled('Refused', /memory/)),
  wrong(
    'an extended resource with a request and without a limit',
    { 'workers/resources': resources({ 'example.com/gpu': '1' }) },
    stalled('Refused', /limit/i),
  ),
  wrong('an Ingress for an invalid host', { ingress: { host: 'not a host' } }, stalled('Refused', /host/i)),
  wrong('an Ingress for an address', { ingress: { host: '192.168.1.1' } }, stalled('Refused', /host|address/i)),
  wrong(
    'an invalid node label',
    { transcode: { accelerator: { ...gpu, nodeSelector: { 'not a label': 'x' } } } },
    stalled('Refused', /nodeSelector/),
  ),
  wrong('a subPath that leads out', { 'media/0/persistentVolumeClaim/subPath': '../up' }, refused(/\.\./)),
  wrong('two media of one name', { 'media/1/name': 'films' }, refused(/duplicate/i)),
  wrong('two databases', { 'postgres/secretRef': { name: 'spare' } }, refused(/exactly one/)),
  wrong('no database', { postgres: {} }, refused(/exactly one/)),
  wrong(
    'an Ingress and a Gateway',
    { ingress: { host: 'a.example' }, gateway: { parentRefs: [{ name: 'door' }] } },
    refused(/at most one/),
  ),
  wrong('fewer than the fewest', { 'api/autoscaling': { min: 5, max: 2 } }, refused(/min must not be above max/)),
  wrong('a size that is none', { 'postgres/managed/storage': 'much' }, refused(/storage/)),
  wrong('a field that does not exist', { 'api/pods': 3 }, refused(/unknown field|not declared in schema/i)),
  wrong('a negative number of pods', { 'api/replicas': -1 }, refused(/replicas/)),
  wrong('a hundred thousand workers', { 'workers/replicas': 100_000 }, refused(/replicas/)),
  wrong('a version with a slash', { version: 'a/b' }, refused(/version/)),
];

const places: Mutation[] = [
  wrong(
    'media on a path of the node, where that is forbidden',
    { 'media/2': { name: 'shows', hostPath: { path: '/srv' } } },
    { condition: 'Degraded True', says: /hostPath|restricted|Forbidden|forbidden|FailedCreate/, serves: true },
  ),
  wrong(
    'media on NFS, where that is forbidden',
    { 'media/2': { name: 'shows', nfs: { server: 'nas', path: '/shows' } } },
    { condition: 'Degraded True', says: /nfs|restricted|Forbidden|forbidden|FailedCreate/, serves: true },
  ),
  wrong(
    'a runtime class that does not exist',
    { transcode: { accelerator: { ...gpu, runtimeClassName: 'no-such-runtime' }, fallbackToCPU: false } },
    { serves: true },
  ),
  wrong(
    'a priority class that does not exist',
    { 'transcode/priorityClassName': 'no-such-priority' },
    { serves: true },
  ),
  wrong('an accelerator that no node has', { transcode: { accelerator: gpu, fallbackToCPU: false } }, { serves: true }),
  wrong('no API at all', { 'api/replicas': 0 }, { condition: 'Ready False ScaledToZero', says: /replicas/ }),
  wrong(
    'a Gateway where none is known',
    { gateway: { parentRefs: [{ name: 'door' }] } },
    { condition: 'IngressReady False NotServed', serves: true },
  ),
  wrong(
    'workers that no node has room for',
    { 'workers/resources': resources({ memory: '4000Gi' }) },
    { condition: 'Degraded True', serves: true },
  ),
];

const sound: Mutation[] = [
  good('three API pods', { 'api/replicas': 3 }, {}),
  good('an autoscaler', { 'api/autoscaling': { min: 1, max: 3 } }, {}),
  good('another version', { version: '3.0.0' }, {}),
  good('another version and more pods', { version: '3.0.1', 'api/replicas': 3, 'workers/replicas': 2 }, {}),
  good('an external database', { postgres: { secretRef: { name: 'spare', key: 'postgres' } } }, {}),
  good('an external Redis', { redis: { secretRef: { name: 'spare', key: 'redis' } } }, {}),
  good('an external object store', { objects: { secretRef: { name: 'spare' } } }, {}),
  good(
    'everything external',
    {
      postgres: { secretRef: { name: 'spare', key: 'postgres' } },
      redis: { secretRef: { name: 'spare', key: 'redis' } },
      objects: { secretRef: { name: 'spare' } },
    },
    {},
  ),
  good('mail', { email: { secretRef: { name: 'spare' } } }, {}),
  good('an owner', { ownerSecretRef: { name: 'spare' } }, {}),
  good(
    'sign-in elsewhere',
    { oidc: { issuer: 'https://login.example', clientId: 'foyer', clientSecretRef: { name: 'spare', key: 'key' } } },
    {},
  ),
  good('a secret setting', { 'settings/email.smtp.password': { secretRef: { name: 'spare', key: 'key' } } }, {}),
  good('fewer media', { media: [{ name: 'films', persistentVolumeClaim: { claimName: 'films' } }] }, {}),
  good('no media', { media: [] }, {}),
  good('media in another order', { 'media/0/name': 'recordings', 'media/1/name': 'films' }, {}),
  good('a Redis that keeps its data on a volume of no class', { networkPolicy: { enabled: false } }, {}),
  good('a dashboard', { 'monitoring/dashboard': true }, {}),
  good('no transcoding', { transcode: { warm: 0, max: 0 } }, {}),
  good('more transcoding', { transcode: { warm: 3, max: 3 } }, {}),
  good('a long host', { ingress: { host: `${'a'.repeat(60)}.example`, className: 'nginx' } }, {}),
  good('TLS', { ingress: { host: 'films.example', tls: { secretName: 'films-tls' } } }, {}),
  good(
    'resources of every pod',
    {
      'api/resources': resources({ cpu: '50m' }),
      'workers/resources': resources({ cpu: '50m' }),
      'transcode/resources': resources({ cpu: '50m' }),
    },
    {},
  ),
  good(
    'a quantity in another spelling',
    { 'workers/resources': resources({ cpu: '0.1', memory: '131072Ki' }, { cpu: '2000m', memory: '1024Mi' }) },
    {},
  ),
  good('a pull secret', { imagePullSecrets: [{ name: 'spare' }] }, {}),
  good('nothing but a pause', { suspend: true }, { condition: 'Progressing False Suspended', serves: true }),
];

const lib = make('Library', false);
const badLib = make('Library', true);
const notReady = (reason: string, says: RegExp): Expected => ({ condition: `Ready False ${reason}`, says });
const libraries: Mutation[] = [
  badLib(
    'a media entry that does not exist',
    { folders: [{ media: 'no-such-media' }] },
    notReady('MediaUnknown', /no-such-media/),
  ),
  badLib(
    'one of two media entries that does not exist',
    { folders: [{ media: 'films' }, { media: 'elsewhere' }] },
    notReady('MediaUnknown', /elsewhere/),
  ),
  badLib(
    'a folder that does not exist',
    { folders: [{ media: 'films', path: '/no-such-folder' }] },
    notReady('ApiRefused', /folder/i),
  ),
  badLib(
    'the same folder twice',
    {
      folders: [
        { media: 'films', path: '/a' },
        { media: 'films', path: '/a' },
      ],
    },
    notReady('ApiRefused', /./),
  ),
  badLib(
    'a folder inside another',
    {
      folders: [
        { media: 'films', path: '/a' },
        { media: 'films', path: '/a/b' },
      ],
    },
    notReady('ApiRefused', /./),
  ),
  badLib('an agent that does not exist', { agents: ['no-such-agent'] }, notReady('ApiRefused', /agents/)),
  badLib('the name of another library', { displayName: 'taken' }, notReady('ApiRefused', /name/i)),
  badLib('a schedule that never comes', { 'scan/schedule': '61 25 32 13 9' }, refused(/must be 0 to 59/)),
  badLib('a schedule of words', { 'scan/schedule': 'a b c d e' }, refused(/must be 0 to 59/)),
  badLib('another server', { 'serverRef/name': 'elsewhere' }, refused(/cannot be changed/)),
  badLib('another type', { type: 'music' }, refused(/cannot be changed/)),
  badLib('a folder above', { folders: [{ media: 'films', path: '/../etc' }] }, refused(/\.\./)),
  badLib('two kinds of access', { access: { everyone: true, roles: ['admin'] } }, refused(/exactly one/)),
  badLib('no kind of access', { access: {} }, refused(/exactly one/)),
  badLib('an impossible age', { ageLimit: 99 }, refused(/ageLimit/)),
  badLib('a language that is none', { language: 'german!' }, refused(/language/)),
  badLib('a country in small letters', { country: 'de' }, refused(/country/)),
  badLib('a role that does not exist', { access: { roles: ['king'] } }, refused(/roles/)),
  badLib('a name that is too long', { displayName: 'x'.repeat(81) }, refused(/displayName/)),
  badLib('an unknown setting', { settings: { magic: true } }, refused(/unknown field|not declared in schema/i)),
  lib(
    'people who do not exist yet',
    { access: { users: ['nobody-yet'] } },
    { condition: 'Synced False AccountUnknown', says: /nobody-yet/ },
  ),
  lib(
    'two folders',
    {
      folders: [
        { media: 'films', path: '/a' },
        { media: 'recordings', path: '/' },
      ],
    },
    {},
  ),
  lib('no folders', { folders: [] }, {}),
  lib('only admins', { access: { roles: ['admin'] } }, {}),
  lib(
    'everything at once',
    {
      displayName: 'All of it',
      language: 'de',
      country: 'DE',
      ageLimit: 12,
      order: 7,
      scan: { onChange: false, schedule: '1 2 * * *' },
    },
    {},
  ),
];

const tuner = make('TunerDevice', false);
const badTuner = make('TunerDevice', true);
const tuners: Mutation[] = [
  badTuner(
    'a playlist of a Secret that is missing',
    { source: { m3u: { urlSecretRef: { name: 'no-such-list' } } } },
    notReady('SecretMissing', /no-such-list/),
  ),
  badTuner(
    'a playlist of a Secret without the key',
    { source: { m3u: { urlSecretRef: { name: 'spare', key: 'nothing' } } } },
    notReady('SecretMissing', /nothing/),
  ),
  badTuner(
    'a playlist of a Secret that holds no address',
    { source: { m3u: { urlSecretRef: { name: 'spare', key: 'uri' } } } },
    notReady('SecretInvalid', /no HTTP URL/),
  ),
  badTuner(
    'a guide of a Secret that is missing',
    { guide: { xmltv: { urlSecretRef: { name: 'no-such-guide' } } } },
    notReady('SecretMissing', /no-such-guide/),
  ),
  badTuner(
    'recordings to a media entry that does not exist',
    { recordings: { media: 'elsewhere' } },
    notReady('MediaUnknown', /elsewhere/),
  ),
  badTuner('recordings to a read-only place', { recordings: { media: 'films' } }, notReady('MediaUnknown', /films/)),
  badTuner(
    'a pod that requests more than it may use',
    { resources: resources({ memory: '2Gi' }, { memory: '1Gi' }) },
    notReady('Refused', /memory/),
  ),
  badTuner(
    'a resource that has no such name',
    { resources: resources({ 'not a name': '1' }) },
    notReady('Refused', /not a name/),
  ),
  badTuner('an invalid node label', { nodeSelector: { 'not a label': 'x' } }, notReady('Refused', /nodeSelector/)),
  badTuner(
    'a guide that is refreshed at no time',
    { guide: { xmltv: { url: 'http://guide.example/' }, refresh: '61 25 32 13 9' } },
    refused(/must be 0 to 59/),
  ),
  badTuner(
    'a guide that is refreshed by words',
    { guide: { xmltv: { url: 'http://guide.example/' }, refresh: 'a b c d e' } },
    refused(/must be 0 to 59/),
  ),
  badTuner(
    'timeshift on a claim that does not exist',
    { 'timeshift/storage': { persistentVolumeClaim: { claimName: 'no-such-claim' } } },
    { condition: 'Ready False' },
  ),
  badTuner('the network of the node, where that is forbidden', { hostNetwork: true }, { condition: 'Ready False' }),
  badTuner('a node that does not exist', { nodeSelector: { nowhere: 'yes' } }, { condition: 'Ready False' }),
  badTuner('another server', { 'serverRef/name': 'elsewhere' }, refused(/cannot be changed/)),
  badTuner(
    'a device instead of a playlist',
    { source: { hdhomerun: { address: '192.168.1.9' } } },
    refused(/cannot be changed/),
  ),
  badTuner(
    'a playlist from two places',
    { source: { m3u: { url: 'http://a.example', urlSecretRef: { name: 'spare' } } } },
    refused(/exactly one/),
  ),
  badTuner('two guides', { guide: { device: true, xmltv: { url: 'http://a.example' } } }, refused(/at most one/)),
  badTuner('more days than a guide has', { 'guide/days': 400 }, refused(/days/)),
  badTuner('a buffer of no minutes and a half', { 'timeshift/minutes': 0.5 }, refused(/minutes/)),
  badTuner('a channel with a slash', { 'channels/include': ['a/b'] }, refused(/include/)),
  badTuner('streams without end', { 'source/m3u/maxStreams': 1000 }, refused(/maxStreams/)),
  tuner('a playlist of a Secret', { source: { m3u: { urlSecretRef: { name: 'spare' } } } }, {}),
  tuner('recordings', { recordings: { media: 'recordings' } }, {}),
  tuner('timeshift on a claim', { 'timeshift/storage': { persistentVolumeClaim: { claimName: 'recordings' } } }, {}),
  tuner(
    'another playlist with more streams',
    { source: { m3u: { url: 'https://other.example/list', maxStreams: 4, userAgent: 'Foyer' } } },
    {},
  ),
];

export const semantic: Record<Kind, readonly Mutation[]> = {
  MediaServer: [...secretsOfServers, ...volumesOfServers, ...conflicts, ...places, ...sound],
  Library: libraries,
  TunerDevice: tuners,
};
