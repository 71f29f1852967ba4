// A server's objects of other operators' kinds (CloudNativePG, the Gateway API, Prometheus), with the definitions that
// these bring. The operators themselves are played: their writes are made here.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Request } from './support/audit.ts';
import { UP_MS } from './support/cluster.ts';
import { definitionOf } from './support/hack.ts';
import { operatorOf } from './support/operator-process.ts';
import { Stage, serverOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

const KINDS = {
  Cluster: 'clusters.postgresql.cnpg.io',
  HTTPRoute: 'httproutes.gateway.networking.k8s.io',
  ServiceMonitor: 'servicemonitors.monitoring.coreos.com',
  PrometheusRule: 'prometheusrules.monitoring.coreos.com',
} as const;
const DEFINITIONS = Object.values(KINDS).map((name) => `crd/${name}`);
const SPEC = {
  api: { replicas: 1 },
  postgres: { cloudNativePG: { instances: 2, storage: '5Gi', image: 'postgres:18' } },
  gateway: { parentRefs: [{ name: 'door', namespace: 'edge', sectionName: 'https' }], hostnames: ['films.example'] },
  monitoring: { serviceMonitor: true, prometheusRule: true },
};

describe('kinds of other operators', function () {
  this.timeout(300_000);
  let stage: Stage;
  let namespace = '';
  const files: string[] = [];

  const kubectl = () => stage.cluster.kubectl;
  const named = (kind: string, name: string) => ({ kind, name, namespace });
  const home = () => kubectl().find<KubeObject>(named('mediaserver', 'home'));
  const child = (kind: keyof typeof KINDS) =>
    kubectl().find<KubeObject>(named(KINDS[kind], kind === 'Cluster' ? 'home-postgres' : 'home'));
  const there = (kind: keyof typeof KINDS) => until(`${kind} is made`, () => child(kind), 120_000);

  interface Reported {
    conditions?: { type: string; status: string; reason: string; message: string }[];
  }
  const condition = async (type: string) => {
    const { conditions = [] } = ((await home())?.status ?? {}) as Reported;
    const found = conditions.find((one) => one.type === type);
    return { words: `${found?.status} ${found?.reason}`, message: found?.message ?? '' };
  };
  const reaches = (type: string, words: string) =>
    until(`${type} ${words}`, async () => (await condition(type)).words === words, 120_000);

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    for (const kind of Object.keys(KINDS)) files.push(await definitionOf(kind));
    await kubectl().run(['delete', '--ignore-not-found', ...DEFINITIONS]); // another file may have brought some
    namespace = await stage.namespace('foreign', ['home']);
    const one = serverOnStage('home', SPEC);
    await kubectl().apply({ ...one, metadata: { ...one.metadata, namespace } });
    await stage.operator(namespace);
  });
  after(async function () {
    this.timeout(UP_MS);
    await stage.close();
    await kubectl().run(['delete', '--ignore-not-found', ...DEFINITIONS]);
  });

  it('are reported as missing, each where it is required', async () => {
    await reaches('DatabaseReady', 'False NotServed');
    await reaches('IngressReady', 'False NotServed');
    expect((await condition('DatabaseReady')).message).to.contain('install it');
    expect((await condition('Ready')).words).to.equal('False NotServed');
  });

  it('are used once their definitions come: the API server takes the objects', async () => {
    for (const file of files) await kubectl().run(['apply', '--server-side', '-f', file]);
    await until('the definitions', () =>
      kubectl().run(['wait', '--for=condition=Established', '--timeout=30s', ...DEFINITIONS]),
    );
    const cluster = await there('Cluster');
    expect(cluster.spec).to.deep.include({ instances: 2, imageName: 'postgres:18' });
    expect(cluster.metadata.ownerReferences, 'the data stays').to.equal(undefined);
    const route = await there('HTTPRoute');
    expect(route.spec).to.deep.include({ hostnames: ['films.example'] });
    expect(JSON.stringify(route.spec)).to.contain('"name":"home-api"').and.contain('"sectionName":"https"');
    for (const kind of ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule'] as const)
      expect((await there(kind)).metadata.ownerReferences?.[0], kind).to.include({ kind: 'MediaServer', name: 'home' });
    await reaches('DatabaseReady', 'False Starting');
  });

  it('lead to a server that is ready once the database has its Secret', async () => {
    const uri = 'postgresql://foyer:not-told@home-postgres-rw:5432/foyer';
    const metadata = { name: 'home-postgres-app', namespace };
    await kubectl().apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { uri } });
    await reaches('Ready', 'True AllReady');
    const [api] = await kubectl().list<KubeObject>('deployments', namespace, 'app.kubernetes.io/component=api');
    expect(JSON.stringify(api?.spec)).to.contain('"secretKeyRef":{"key":"uri","name":"home-postgres-app"}');
    expect(JSON.stringify(await home())).to.not.contain('not-told');
  });

  it('are reported with the status of their operators', async () => {
    await reaches('IngressReady', 'False NotAccepted');
    const report = (status: string, reason: string, message: string) => {
      const times = { observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' };
      const accepted = { type: 'Accepted', status, reason, message, ...times };
      const parentRef = { name: 'door', namespace: 'edge', sectionName: 'https' };
      const parents = [{ parentRef, controllerName: 'example.com/door', conditions: [accepted] }];
      return kubectl().patch(named(KINDS.HTTPRoute, 'home'), { status: { parents } }, true);
    };
    await report('False', 'NoMatchingListenerHostname', 'no listener has this host name');
    await until('its words', async () => (await condition('IngressReady')).message.includes('no listener has this'));
    await report('True', 'Accepted', 'taken');
    await reaches('IngressReady', 'True Accepted');
  });

  const writesOf = ({ group }: Request) => Object.values(KINDS).some((name) => name.endsWith(`.${group}`) && group);

  it('are left alone at rest, and restored when another client changes them', async () => {
    await reaches('Progressing', 'False Stable');
    const mark = await stage.cluster.audit.mark();
    await sleep(25_000); // two looks and more
    const writes = async () => (await stage.cluster.audit.writes(mark, operatorOf(namespace))).filter(writesOf);
    expect((await writes()).map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const theirs = { metadata: { annotations: { 'theirs.example/x': 'y' } }, spec: { instances: 3, enablePDB: false } };
    await kubectl().patch(named(KINDS.Cluster, 'home-postgres'), theirs);
    await kubectl().patch(named(KINDS.HTTPRoute, 'home'), { spec: { hostnames: ['other.example'] } });
    await until('both are put back', async () => {
      const [cluster, route] = [await child('Cluster'), await child('HTTPRoute')];
      const text = JSON.stringify([cluster?.spec, route?.spec]);
      return text.includes('"instances":2') && text.includes('films.example');
    });
    const cluster = await child('Cluster');
    expect(cluster?.spec, 'what we do not say is theirs').to.include({ enablePDB: false });
    expect(cluster?.metadata.annotations).to.include({ 'theirs.example/x': 'y' });
    expect((await writes()).map(({ resource }) => resource).sort()).to.deep.equal(['clusters', 'httproutes']);
  });

  it('are removed when no longer required, but for the database', async () => {
    const change = { spec: { gateway: null, monitoring: { serviceMonitor: false, prometheusRule: false } } };
    await kubectl().patch(named('mediaserver', 'home'), change);
    for (const kind of ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule'] as const)
      await until(`no ${kind}`, async () => !(await child(kind)));
    await kubectl().run(['delete', 'mediaserver', 'home', '-n', namespace, '--timeout=60s']);
    await until('its pods go', async () => (await kubectl().list('deployments', namespace)).length === 0);
    expect(await child('Cluster')).to.not.equal(undefined);
  });
});
