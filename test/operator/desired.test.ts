import { expect } from 'chai';
import { serverProcesses } from '#operator/local/desired.ts';
import { parseText } from '#operator/local/documents.ts';
import { type Place, serverEnvironment } from '#operator/local/environment.ts';
import { type ProcessSpec, plan, specHash } from '#operator/local/process-spec.ts';
import { type Resources, toResources } from '#operator/local/resources.ts';
import { type Observed, serverVerdicts } from '#operator/local/verdicts.ts';
import { printStatus, valueAt } from '#operator/status-print.ts';
import { readConfig } from '#platform/config.ts';

const FILE = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  api: { replicas: 3 }
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { secretRef: { name: s3 }, bucketPrefix: our- }
  media:
    - { name: films, hostPath: { path: /films } }
    - { name: near, hostPath: { path: near }, readOnly: false }
  transcode: { warm: 2, max: 3, sessionsPerJob: 5 }
  network: { trustedProxies: [10.0.0.0/8], allow: { webhooks: [192.168.7.0/24] } }
  email: { secretRef: { name: mail } }
  settings:
    server.name: Ours
    music.listenBrainzToken: { secretRef: { name: mail, key: token } }
---
apiVersion: v1
kind: Secret
metadata: { name: s3 }
stringData: { endpoint: "https://s3.lan:9000", accessKey: "a/b", secretKey: "c:d@", region: here }
---
apiVersion: v1
kind: Secret
metadata: { name: mail }
stringData: { host: smtp.lan, from: foyer@lan, port: "25", token: t }
`;

const place: Place = {
  dir: '/data',
  port: 8080,
  openSetup: false,
  keysFile: '/data/keys.json',
  operatorKey: 'foyer_key',
  claimCode: 'code',
  mediaId: (name) =>
    name === 'films' ? '0193f3a0-0000-7000-8000-000000000001' : '0193f3a0-0000-7000-8000-000000000002',
  uidOf: (kind, name) => `uid of ${kind} ${name}`,
};
const stores = { databaseUrl: 'postgres://x', redisUrl: 'redis://y', objectsUrl: 'file:///z' };

function load(text = FILE): { resources: Resources; server: Resources['servers'][number] } {
  const { resources, problems } = toResources(parseText(text, '/etc/foyer/home.yaml'));
  expect(problems).to.deep.equal([]);
  const [server] = resources.servers;
  if (!server) throw new Error('no server');
  return { resources, server };
}

const environment = (text = FILE): Record<string, string> => {
  const { server, resources } = load(text);
  return serverEnvironment(server, resources, { place, stores });
};

describe('environment of the server', () => {
  it('is one that the server reads', () => {
    const config = readConfig(environment());
    expect(config.mediaRoots).to.deep.equal([
      { id: place.mediaId('films'), name: 'films', path: '/films', readOnly: true },
      { id: place.mediaId('near'), name: 'near', path: '/etc/foyer/near', readOnly: false },
    ]);
    expect(config).to.deep.include({
      maxSessions: 5,
      trustedProxies: ['10.0.0.0/8'],
      webhookNetworks: ['192.168.7.0/24'],
      clusterNetworks: [],
      keysFile: '/data/keys.json',
      claimFrom: 'link',
      openSetup: false,
    });
    expect(config.managedBy).to.deep.equal({
      kind: 'MediaServer',
      namespace: 'default',
      name: 'home',
      uid: 'uid of MediaServer home',
    });
    expect(config.declaredSettings).to.deep.include({
      'server.name': 'Ours',
      'music.listenBrainzToken': 't',
      'email.smtp.host': 'smtp.lan',
      'email.smtp.port': 25,
      'transcode.maxWorkers': 3,
    });
  });

  it('names the folder of the logos to all of them, where there are any', () => {
    const branded = FILE.replace('  email:', '  branding: { configMapRef: { name: brand } }\n  email:');
    expect(readConfig(environment(branded)).brandingDir).to.equal('/data/run/branding');
    expect(readConfig(environment()).brandingDir).to.equal(undefined);
  });

  it('holds secrets of the operator only as hashes', () => {
    const text = JSON.stringify(environment());
    expect(text).not.to.contain('foyer_key');
    expect(environment().FOYER_CLAIM_SHA256).to.match(/^[0-9a-f]{64}$/);
  });

  it('lets an owner of a Secret leave no claim code', () => {
    const owner =
      '---\napiVersion: v1\nkind: Secret\nmetadata: { name: o }\nstringData: { username: u, password: p }\n';
    const env = environment(FILE.replace('  email:', '  ownerSecretRef: { name: o }\n  email:') + owner);
    expect(env).to.include({ FOYER_CLAIM_FROM: 'none', FOYER_OWNER_FILE: '/data/run/owner.json' });
    expect(env).not.to.have.property('FOYER_CLAIM_SHA256');
  });
});

describe('processes of the server', () => {
  const processes = (text = FILE): ProcessSpec[] => {
    const { spec } = load(text).server;
    return serverProcesses(spec, environment(text), { transcoding: spec.transcode.warm, tree: '/tree' });
  };
  const running = (specs: readonly ProcessSpec[]) =>
    new Map(specs.map((spec) => [spec.name, { role: spec.role, hash: specHash(spec) }]));
  const roles = ['api', 'worker', 'transcode'] as const;
  const change = (text: string): string[] =>
    plan(processes(text), running(processes()), roles).map(
      (action) => `${action.do} ${action.do === 'stop' ? action.name : action.spec.name}`,
    );

  it('are as many as the resource declares', () => {
    expect(processes().map(({ name }) => name)).to.deep.equal([
      ...['api-1', 'api-2', 'api-3', 'worker-1', 'transcode-1', 'transcode-2'],
    ]);
  });

  it('that decode receive the stores and no other secret', () => {
    const secretive = environment();
    const { spec } = load(FILE).server;
    const specs = serverProcesses(spec, { ...secretive, FOYER_BACKUP: '{}' }, { transcoding: 1, tree: '/tree' });
    const [api, decoder] = ['api-1', 'transcode-1'].map(
      (wanted) => specs.find(({ name }) => name === wanted)?.env ?? {},
    );
    expect(api).to.include.keys('FOYER_BACKUP', 'FOYER_OPERATOR_KEY_SHA256', 'FOYER_CLAIM_SHA256');
    expect(decoder).to.not.have.any.keys('FOYER_BACKUP', 'FOYER_OPERATOR_KEY_SHA256', 'FOYER_CLAIM_SHA256');
    expect(Object.keys(JSON.parse(decoder?.['FOYER_SETTINGS'] ?? '{}'))).to.satisfy(
      (keys: string[]) => keys.length > 0 && keys.every((key) => key.startsWith('transcode.')),
    );
    expect(readConfig(decoder ?? {})).to.include({ databaseUrl: api?.['FOYER_DATABASE_URL'] });
  });

  it('are left alone while nothing changes', () => {
    expect(change(FILE)).to.deep.equal([]);
  });

  it('grow and shrink by their number alone', () => {
    const two = FILE.replace('warm: 2', 'warm: 1');
    expect(change(two)).to.deep.equal(['stop transcode-2']);
    const one = plan(processes(), running(processes().filter(({ name }) => name !== 'api-3')), roles);
    expect(one).to.have.length(1);
    expect(change(FILE.replace('replicas: 3', 'replicas: 4'))).to.deep.equal(['start api-4']);
  });

  it('are replaced when their environment changes', () => {
    expect(change(FILE.replace('/films', '/elsewhere'))).to.deep.equal([
      ...['api-1', 'api-2', 'api-3', 'worker-1', 'transcode-1', 'transcode-2'].map((name) => `replace ${name}`),
    ]);
  });

  it('of other roles are not touched', () => {
    expect(plan([], running(processes()), ['redis'])).to.deep.equal([]);
  });
});

const fine: Observed = {
  database: true,
  redis: true,
  objects: true,
  migrations: { state: 'applied', message: 'done' },
  processes: [
    { name: 'api-1', role: 'api', state: 'ready', restarts: 0, lastEnd: undefined, served: true },
    { name: 'transcode-1', role: 'transcode', state: 'ready', restarts: 0, lastEnd: undefined, served: true },
  ],
  replacing: false,
  apiReady: true,
  version: '0.1.0',
  health: {},
  disk: undefined,
  transcodeWorkers: 1,
  speech: { waiting: undefined, idleMs: 0, workers: [] },
  ffmpeg: true,
  problems: [],
  refused: false,
};

describe('conditions of the MediaServer', () => {
  const judge = (seen: Partial<Observed>, text = FILE): Record<string, string> =>
    Object.fromEntries(
      serverVerdicts(load(text).server.spec, { ...fine, ...seen }).map(({ type, status, reason }) => [
        type,
        `${status} ${reason}`,
      ]),
    );

  it('are true when every check passed', () => {
    expect(judge({})).to.deep.equal({
      Ready: 'True AllReady',
      Progressing: 'False Stable',
      Degraded: 'False AllReady',
      DatabaseReady: 'True Connected',
      RedisReady: 'True Connected',
      ObjectsReady: 'True Connected',
      MigrationsApplied: 'True Completed',
      TranscodeReady: 'True Running',
      ParserReady: 'True Running',
      SettingsValid: 'True Valid',
      SubtitlesReady: 'False NoneAsked',
      IngressReady: 'False NoneAsked',
    });
  });

  it('stay ready without Redis, degraded', () => {
    expect(judge({ redis: 'refused' })).to.include({ Ready: 'True AllReady', Degraded: 'True RedisUnreachable' });
  });

  it('report that no key opens the secrets any more, which stops nothing else', () => {
    const judged = judge({ health: { keys: 'degraded' } });
    expect(judged).to.include({ Ready: 'True AllReady', Degraded: 'True SealedKeyMismatch' });
  });

  it('are not ready without a database, migrations or an API', () => {
    expect(judge({ database: 'refused' })).to.include({ Ready: 'False DatabaseUnreachable' });
    expect(judge({ migrations: { state: 'failed', message: 'x' } })).to.include({ Ready: 'False MigrationFailed' });
    const looping = [
      { name: 'api-1', role: 'api' as const, state: 'backoff' as const, restarts: 3, lastEnd: 'exit 1', served: false },
    ];
    expect(judge({ apiReady: false, processes: looping })).to.include({
      Ready: 'False CrashLooping',
      Degraded: 'True CrashLooping',
    });
  });

  it('report files that are not in force, and parts that are not served', () => {
    const verdicts = serverVerdicts(load().server.spec, { ...fine, problems: ['home.yaml:1 x'] });
    expect(verdicts.find(({ type }) => type === 'SettingsValid')?.message).to.contain('home.yaml:1 x');
    expect(judge({ problems: ['x'] })).to.include({
      Ready: 'True AllReady',
      SettingsValid: 'False FileInvalid',
      Degraded: 'True FileInvalid',
    });
    const text = FILE.replace('  email:', '  ingress: { host: a.lan }\n  subtitles: {}\n  email:');
    expect(judge({}, text)).to.include({ IngressReady: 'False NotServed', SubtitlesReady: 'False Starting' });
    const branded = FILE.replace('  email:', '  branding: { configMapRef: { name: brand } }\n  email:');
    expect(judge({}, branded)).to.include({ BrandingReady: 'True Valid' });
    const allowed = FILE.replace('  email:', '  plugins: { trustedKeys: [a] }\n  email:');
    expect(judge({}, allowed)).to.include({ PluginsReady: 'False NotServed' });
  });
});

describe('the condition SubtitlesReady', () => {
  const worker = { name: 'speech-1', role: 'speech' as const, restarts: 0, lastEnd: undefined, served: true };
  const report = { pod: 'speech-1', model: 'base', device: 'cpu' as const, reason: '', message: '', fellBack: false };
  const judged = (spec: string, seen: Partial<Observed>): string[] => {
    const text = FILE.replace('  email:', `  subtitles: ${spec}\n  email:`);
    const all = serverVerdicts(load(text).server.spec, { ...fine, ...seen });
    return ['SubtitlesReady', 'Degraded'].map((type) => {
      const found = all.find((one) => one.type === type);
      return `${found?.status} ${found?.reason}`;
    });
  };
  const running = { processes: [...fine.processes, { ...worker, state: 'ready' as const }] };
  const reports = (...workers: Observed['speech']['workers']) => ({
    ...running,
    speech: { waiting: 1, idleMs: 0, workers },
  });

  it('follows the process of the worker and what it reports', () => {
    const whole = 'False AllReady';
    expect(judged('{ scaleToZero: true }', {})).to.deep.equal(['True ScaledToZero', whole]);
    expect(judged('{ replicas: 0 }', {})).to.deep.equal(['False NoneAsked', whole]);
    expect(judged('{}', {})).to.deep.equal(['False Starting', whole]);
    expect(judged('{}', running)).to.deep.equal(['False Starting', whole]);
    expect(judged('{}', reports({ ...report, state: 'ready' }))).to.deep.equal(['True Running', whole]);
    const fell = { ...report, state: 'ready' as const, fellBack: true };
    expect(judged('{}', reports(fell))).to.deep.equal(['True FellBackToCPU', whole]);
    const missing = { ...report, state: 'unavailable' as const, reason: 'model-missing' };
    expect(judged('{}', reports(missing))).to.deep.equal(['False ModelMissing', 'True ModelMissing']);
    const looping = { ...worker, state: 'backoff' as const, restarts: 3, lastEnd: 'exit 1' };
    expect(judged('{}', { processes: [...fine.processes, looping] })).to.deep.equal([
      ...['False CrashLooping', 'True CrashLooping'],
    ]);
  });
});

describe('operator local status', () => {
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'ApiRefused', message: 'no' },
    { type: 'Scanned', status: 'False', reason: 'NeverScanned', message: 'not yet' },
  ];
  const item = {
    apiVersion: 'foyer.media/v1alpha1',
    kind: 'Library',
    metadata: {
      name: 'films',
      namespace: 'default',
      uid: 'u',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { serverRef: { name: 'home' }, type: 'movies' },
    status: { items: 3, lastScan: { finishedAt: '2026-01-01T01:00:00Z' }, conditions },
  };

  it('prints the columns of kubectl and those that need attention', () => {
    expect(printStatus([item], 'table', new Date('2026-01-01T03:00:00Z'))).to.equal(
      'NAME    SERVER   TYPE     ITEMS   LAST SCAN   READY   STATUS       AGE\nfilms   home     movies   3       2h          False   ApiRefused   3h\n  films: Ready ApiRefused: no\n',
    );
    expect(printStatus([], 'table')).to.equal('No resources.\n');
    expect(JSON.parse(printStatus([item], 'json'))).to.deep.include({ kind: 'List' });
    expect(printStatus([item], 'yaml')).to.contain('name: films');
  });

  it('reads the JSONPath of printer columns', () => {
    expect(valueAt(item, '.status.conditions[?(@.type=="Scanned")].reason')).to.equal('NeverScanned');
    expect(valueAt(item, '.status.none.deeper')).to.equal(undefined);
  });
});
