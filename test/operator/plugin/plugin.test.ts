import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { gather, redact, secretValues, writeBundle } from '#operator/plugin/bundle.ts';
import { type Cluster, Refused } from '#operator/plugin/cluster.ts';
import { diagnose, printFindings } from '#operator/plugin/doctor.ts';
import { publicAddress } from '#operator/plugin/open.ts';
import { type Snapshot, serverOf } from '#operator/plugin/snapshot.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { bareEnvironment } from '#support/processes.ts';
import { temporaryFolder } from '#support/stores.ts';

const object = (kind: string, name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, generation: 1 },
  ...rest,
});
const condition = (type: string, status: string, more: object = {}) => ({
  ...{ type, status, reason: 'AllReady', message: '' },
  ...more,
});
const crds = ['mediaservers', 'libraries', 'tunerdevices'].map((name) => object('X', `${name}.foyer.media`));
const well: Snapshot = {
  takenAt: new Date('2026-01-01T12:00:00Z'),
  clusterVersion: 'v1.34.4',
  namespace: 'media',
  crds,
  operators: [object('Deployment', 'foyer-operator', { status: { readyReplicas: 1 } })],
  operatorPods: [],
  servers: [
    object('MediaServer', 'home', {
      spec: { transcode: {} },
      status: { observedGeneration: 1, conditions: [condition('Ready', 'True'), condition('Degraded', 'False')] },
    }),
  ],
  libraries: [],
  tuners: [],
  pods: [],
  claims: [],
  storageClasses: [],
  ingressClasses: [],
  nodes: [],
  events: [],
  denied: [],
};
const faults = (seen: Partial<Snapshot>) => diagnose({ ...well, ...seen }).filter(({ state }) => state !== 'ok');

describe('kubectl mediaserver doctor', () => {
  it('finds nothing where all is well', () => {
    expect(faults({})).to.deep.equal([]);
  });

  it('names what the cluster lacks', () => {
    expect(faults({ crds: crds.slice(1) })[0]?.message).to.include('MediaServer not installed');
  });

  it('reports each bad condition with the remedy, and none of the good ones', () => {
    const bad = [
      condition('Ready', 'False', { reason: 'DatabaseUnreachable', message: 'no answer: check' }),
      condition('Degraded', 'True', { reason: 'X' }),
    ];
    const found = faults({
      servers: [object('MediaServer', 'home', { spec: {}, status: { observedGeneration: 1, conditions: bad } })],
    });
    expect(found.map(({ state, message }) => [state, message])).to.deep.equal([
      ['fault', 'Ready: DatabaseUnreachable'],
      ['warning', 'Degraded: X'],
    ]);
    expect(found[0]?.advice).to.equal('no answer: check');
  });

  it('reports a crash loop, a pod that no node takes, a claim without a volume', () => {
    const looping = object('Pod', 'home-api-1', {
      status: {
        containerStatuses: [
          {
            name: 'api',
            restartCount: 7,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { exitCode: 1 } },
          },
        ],
      },
    });
    const unplaced = object('Pod', 'home-transcode-0', {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', message: 'Insufficient nvidia.com/gpu' }] },
    });
    const pending = { status: { phase: 'Pending' } };
    const claim = (name: string, spec: object = {}) => object('PersistentVolumeClaim', name, { ...pending, spec });
    const claims = [claim('data'), claim('of-others'), claim('fast', { storageClassName: 'ssd' })];
    const volumes = ['data', 'fast'].map((claimName) => ({ persistentVolumeClaim: { claimName } }));
    const waiting = object('Pod', 'home-postgres-0', { spec: { volumes }, status: {} });
    const text = printFindings(faults({ pods: [looping, unplaced, waiting], claims }));
    expect(text).to.include('ended 7 times (exit 1)').and.include('--previous');
    expect(text).to.include('Insufficient nvidia.com/gpu').and.include('no default StorageClass');
    expect(text).to.include('no StorageClass ssd').and.not.include('of-others');
  });

  it('reports whatever a container waits for that does not come by itself, in the words of the node', () => {
    const waits = (reason: string, message?: string) =>
      object('Pod', reason, {
        status: { initContainerStatuses: [{ name: 'c', restartCount: 0, state: { waiting: { reason, message } } }] },
      });
    const found = faults({
      pods: [
        waits('ContainerCreating'),
        waits('PodInitializing'),
        waits('CreateContainerConfigError', "couldn't find key uri in Secret media/db"),
        waits('InvalidImageName'),
      ],
    });
    expect(found.map(({ about, message }) => `${about} ${message}`)).to.deep.equal([
      "pod CreateContainerConfigError c: couldn't find key uri in Secret media/db",
      'pod InvalidImageName image of c: InvalidImageName',
    ]);
  });

  it('reports the message of kubelet for a pod that it does not start, and that a roll-out stands still', () => {
    const status = {
      containerStatuses: [{ name: 'c', restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } } }],
    };
    const pod = object('Pod', 'home-api-1', { status });
    const words = 'Unable to attach or mount volumes: timed out waiting for the condition';
    const about = { involvedObject: { kind: 'Pod', name: 'home-api-1', uid: pod.metadata.uid } };
    const event = { ...object('Event', 'e'), type: 'Warning', reason: 'FailedMount', message: words, ...about };
    const findings = (pods: KubeObject[]) => printFindings(faults({ pods, events: [event] }));
    expect(findings([pod])).to.include(`pod home-api-1: ${words}`);
    expect(findings([{ ...pod, status: { containerStatuses: [] } }])).to.not.include('Unable');
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'AllReady', message: 'x' },
      { type: 'Degraded', status: 'True', reason: 'ProgressDeadlineExceeded', message: words },
    ];
    const servers = [object('MediaServer', 'home', { spec: {}, status: { observedGeneration: 1, conditions } })];
    expect(printFindings(faults({ servers })))
      .to.include('Degraded: ProgressDeadlineExceeded')
      .and.include(words);
  });

  it('takes words of kubelet of the last hour alone, however an Event states its time', () => {
    const waiting = { reason: 'ContainerCreating' };
    const status = { containerStatuses: [{ name: 'c', restartCount: 0, state: { waiting } }] };
    const pod = object('Pod', 'home-api-1', { status });
    const involvedObject = { kind: 'Pod', name: 'home-api-1', uid: pod.metadata.uid };
    const more = { type: 'Warning', reason: 'FailedMount', message: 'no such disk', involvedObject };
    const findings = (time: object) => faults({ pods: [pod], events: [{ ...object('Event', 'e'), ...more, ...time }] });
    const [late, early] = ['2026-01-01T11:01:00Z', '2026-01-01T10:59:00Z'];
    for (const time of [{ lastTimestamp: late }, { lastTimestamp: null, eventTime: late }, {}])
      expect(findings(time), JSON.stringify(time)).to.have.length(1);
    for (const time of [{ lastTimestamp: early }, { lastTimestamp: null, eventTime: early }])
      expect(findings(time), JSON.stringify(time)).to.deep.equal([]);
  });

  it('reports a suspended server instead of looking for the operator', () => {
    const servers = [object('MediaServer', 'home', { spec: { suspend: true }, status: well.servers[0]?.status })];
    const libraries = [object('Library', 'films', { spec: { serverRef: { name: 'home' } }, status: {} })];
    expect(printFindings(faults({ servers, libraries })))
      .to.include('Library films')
      .and.include('is suspended');
    expect(printFindings(faults({ libraries }))).to.include('it has not been reconciled yet');
  });

  it('reports that there is no server, and nothing about objects that it may not read', () => {
    expect(printFindings(faults({ servers: [] }))).to.include('MediaServer: none in namespace media');
    const denied = ['list MediaServer in namespace media', 'list Deployment of the whole cluster'];
    const text = printFindings(faults({ servers: [], operators: [], denied }));
    expect(text).to.include('rights: you may not list MediaServer').and.not.include('MediaServer: none');
    expect(text).to.include('operator: none in namespace media');
    expect(printFindings(faults({ operators: [] }))).to.include('no Deployment of it in the cluster');
  });

  it('reports a device that no node offers, and a missing ingress class', () => {
    const spec = {
      transcode: { accelerator: { resourceName: 'nvidia.com/gpu' } },
      subtitles: { accelerator: { resourceName: 'amd.com/gpu' } },
      ingress: { className: 'nginx' },
    };
    const text = printFindings(faults({ servers: [{ ...(well.servers[0] as KubeObject), spec }] }));
    expect(text).to.include('no node offers nvidia.com/gpu').and.include('no node offers amd.com/gpu');
    expect(text).to.include('no ingress class nginx');
  });
});

describe('serverOf', () => {
  it('returns the only server, and lists the known ones when the name is wrong', () => {
    expect(serverOf(well).metadata.name).to.equal('home');
    expect(() => serverOf(well, 'work')).to.throw('no MediaServer work: namespace media has home');
    expect(() => serverOf({ ...well, servers: [] })).to.throw('name one');
  });
});

describe('the address for everybody', () => {
  it('is reported where an Ingress or a route takes it, and not before', () => {
    const server = (status: string) =>
      object('MediaServer', 'home', {
        status: { url: 'https://tv.lan', conditions: [condition('IngressReady', status)] },
      });
    expect([server('True'), server('False'), object('MediaServer', 'home')].map(publicAddress)).to.deep.equal([
      'https://tv.lan',
      undefined,
      undefined,
    ]);
  });
});

describe('support bundle', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const secret = object('Secret', 'home-postgres', {
    data: { password: base64('p@ss word/1'), 'keys.json': base64('{"key":"c2VjcmV0LWNhbmFyeQ=="}') },
  });

  it('takes secret values out in every spelling', () => {
    const values = secretValues([secret]);
    const text = `a p@ss word/1 b ${encodeURIComponent('p@ss word/1')} c ${base64('p@ss word/1')} d c2VjcmV0LWNhbmFyeQ==`;
    expect(redact(text, values)).to.equal('a [secret] b [secret] c [secret] d [secret]');
  });

  it('removes the password of an address alone, also where JSON escapes it', () => {
    const named = object('Secret', 'database', {
      data: { uri: base64('postgres://foyer:can%40ary-pw@db:5432/foyer'), odd: base64('quo"ted\\pass') },
    });
    const text = ['can%40ary-pw', 'can@ary-pw', JSON.stringify('quo"ted\\pass'), 'quo"ted\\pass'].join(' ');
    expect(redact(text, secretValues([named]))).to.equal('[secret] [secret] "[secret]" [secret]');
  });

  it('finds a secret with spaces in a long line of an object', async () => {
    const phrase = 'correct horse battery staple of the house';
    const pod = object('Pod', 'home-api-1', { spec: {}, status: { message: `${'x'.repeat(60)} ${phrase} and more` } });
    const secrets = [object('Secret', 'home-x', { data: { phrase: base64(phrase) } })];
    const cluster = {
      list: async (_version: string, kind: string) => (kind === 'Secret' ? secrets : []),
      secret: async () => undefined,
      log: async () => undefined,
      denied: new Set(),
    } as unknown as Cluster;
    const files = await gather(cluster, { ...well, pods: [pod] });
    expect(files.get('pods.yaml'))
      .to.include('[secret] and more')
      .and.not.match(/horse|staple/);
  });

  it('is refused where it cannot be written', async () => {
    const path = join(temporaryFolder('bundle'), 'no', 'folder');
    const fault = await writeBundle(new Map([['about.txt', 'hello']]), path).catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(Refused).and.have.property('message').that.includes('cannot be written');
  });

  it('is an archive that only its owner may read', async () => {
    const path = join(temporaryFolder('bundle'), 'b.tar.gz');
    await writeBundle(new Map([['about.txt', 'hello']]), path);
    expect(gunzipSync(readFileSync(path)).toString('latin1'))
      .to.include('support-bundle/about.txt')
      .and.include('hello');
  });
});

describe('kubectl-mediaserver', () => {
  it('reports a missing kubeconfig, without a stack', () => {
    const main = join(import.meta.dirname, '../../../operator/plugin/main.ts');
    const env = { ...bareEnvironment(), HOME: '/nonexistent' };
    const { status, stderr } = spawnSync(process.execPath, [main, 'status'], { env, encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.not.include('    at ');
  });
});
