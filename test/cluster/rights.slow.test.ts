// Least privilege: one run in which the operator performs every operation that a resource can request; a permission
// that it did not use is too much.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { FINALIZER, GROUP_VERSION, type KubeObject } from '#operator/runtime/kube.ts';
import type { Request } from './support/audit.ts';
import { node, UP_MS } from './support/cluster.ts';
import { granted, rulesOf, used } from './support/grants.ts';
import { type Home, INSTALL, inNamespace, startHome } from './support/home.ts';
import type { Kubectl } from './support/kubectl.ts';
import { mediaServer, tunerDevice } from './support/specs.ts';
import { until } from './support/until.ts';

/** Kinds of other operators, as far as the API server must know them. */
const FOREIGN = [
  ['gateway.networking.k8s.io', 'v1', 'HTTPRoute', 'httproutes'],
  ['monitoring.coreos.com', 'v1', 'ServiceMonitor', 'servicemonitors'],
  ['monitoring.coreos.com', 'v1', 'PrometheusRule', 'prometheusrules'],
  ['postgresql.cnpg.io', 'v1', 'Cluster', 'clusters'],
] as const;

function definition([group, version, kind, plural]: (typeof FOREIGN)[number]): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for a test' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

const small = { requests: { cpu: '20m', memory: '64Mi' } };
/** Everything that has objects of its own. */
const FULL = {
  api: { autoscaling: { min: 2, max: 3 }, podDisruptionBudget: true },
  ingress: { host: 'films.example' },
  monitoring: { serviceMonitor: true, prometheusRule: true, dashboard: true },
  subtitles: { replicas: 1 },
  transcode: { warm: 1, max: 1, resources: small },
};
/** As little as there can be. */
const BARE = {
  api: { autoscaling: null, replicas: 1, podDisruptionBudget: false },
  ingress: null,
  monitoring: null,
  subtitles: null,
  transcode: { warm: 0, max: 0 },
  networkPolicy: { enabled: false },
};

describe('rights of the operator', function () {
  this.timeout(180_000);
  let home: Home;
  let requests: Request[] = [];

  const gone = (kind: string, name: string): Promise<boolean> =>
    until(`no ${kind} ${name}`, async () => !(await home.kubectl.find(home.named(kind, name))), 180_000); // after a roll-out
  const there = (kind: string, name: string): Promise<unknown> =>
    until(`${kind} ${name}`, () => home.kubectl.find(home.named(kind, name)));

  async function foreignThings(): Promise<void> {
    const cnpg = mediaServer('cnpg', { postgres: { cloudNativePG: { instances: 1, storage: '1Gi' } } });
    const tuner = tunerDevice('roof');
    const metadata = { name: 'roof', namespace: home.namespace, finalizers: [FINALIZER] }; // of a recording that is over
    await home.kubectl.apply(
      { ...cnpg, metadata: { name: 'cnpg', namespace: home.namespace } },
      { ...tuner, metadata },
    );
    await there('clusters.postgresql.cnpg.io', 'cnpg-postgres');
    await until('the finalizer gone', async () => {
      const found = await home.kubectl.find<KubeObject>(home.named('tunerdevice', 'roof'));
      return found && !found.metadata.finalizers?.includes(FINALIZER);
    });
    await there('deployment', 'roof-tuner');
  }

  /** Twice the same, of an object that had no other Events: it is counted up. */
  async function drift(): Promise<void> {
    const service = home.named('service', 'roof-tuner');
    for (const value of ['x', 'y']) {
      await home.kubectl.patch(service, { spec: { selector: { 'app.kubernetes.io/instance': value } } });
      await until('the selector put back', async () => {
        const found = await home.kubectl.find<KubeObject>(service);
        return JSON.stringify(found?.spec).includes('"app.kubernetes.io/instance":"home"');
      });
    }
  }

  async function removeAll(): Promise<void> {
    await home.change({ ingress: null, gateway: { parentRefs: [{ name: 'door' }] } });
    await there('httproutes.gateway.networking.k8s.io', 'home');
    await home.change({ ...BARE, gateway: null });
    await gone('httproutes.gateway.networking.k8s.io', 'home');
    await gone('deployment', 'home-subtitles');
    await gone('job', 'home-transcode-0');
    await home.kubectl.apply({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cache', namespace: home.namespace } },
      stringData: { uri: 'redis://nowhere.example:6379' },
    });
    await home.change({ redis: { managed: null, secretRef: { name: 'cache', key: 'uri' } } });
    await gone('statefulset', 'home-redis');
    await gone('service', 'home-redis');
    const films = home.named('library', 'films');
    await home.kubectl.patch(films, { spec: { deletionPolicy: 'Delete' } });
    await until('a deletion that is held', async () => {
      const found = await home.kubectl.find<KubeObject>(films);
      return found?.metadata.finalizers?.includes(FINALIZER);
    });
    await home.kubectl.run(['delete', 'library', 'films', '-n', home.namespace, '--timeout=60s']);
  }

  /**
   * The admission that checks blocking owners learns of new kinds late, and refuses them until then: not for want of a
   * permission.
   */
  function makeOwned(kubectl: Kubectl): Promise<string> {
    const owner = { apiVersion: GROUP_VERSION, kind: 'MediaServer', name: 'any', uid: 'any', blockOwnerDeletion: true };
    const metadata = { name: 'owned', namespace: 'default', ownerReferences: [owner] };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    return kubectl.run(['create', '--dry-run=server', '-f', '-'], JSON.stringify(object));
  }

  before(async function () {
    this.timeout(UP_MS);
    const { kubectl, audit } = await node();
    await kubectl.run(
      ['apply', '--server-side', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: FOREIGN.map(definition) }),
    );
    const names = FOREIGN.map(([group, , , plural]) => `crd/${plural}.${group}`);
    await until('the definitions', () =>
      kubectl.run(['wait', '--for=condition=Established', '--timeout=30s', ...names]),
    );
    await until('the admission knows our kinds', () => makeOwned(kubectl));
    const mark = await audit.mark();
    home = await startHome({ name: 'rights', spec: FULL });
    await gone('secret', 'home-claim');
    await there('servicemonitors.monitoring.coreos.com', 'home');
    await foreignThings();
    await drift();
    await removeAll();
    // So that its watches end, and are in the log.
    await kubectl.run(['scale', 'deployment/foyer-operator', '-n', home.namespace, '--replicas=0']);
    await until('no operator', async () => {
      return (await kubectl.list('pods', home.namespace, 'app.kubernetes.io/name=foyer-operator')).length === 0;
    });
    const user = `system:serviceaccount:${home.namespace}:foyer-operator`;
    requests = (await audit.since(mark)).filter((request) => request.user === user);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.kubectl
      .patch(home.named('mediaserver', 'home'), { metadata: { finalizers: null } })
      .catch(() => undefined);
    await home?.remove();
    const names = FOREIGN.map(([group, , , plural]) => `${plural}.${group}`);
    await home?.kubectl.run(['delete', 'crd', '--wait=false', ...names]);
  });

  const roles = (): KubeObject[] => inNamespace(INSTALL, 'foyer').filter(({ kind }) => kind === 'Role');

  /**
   * Required of the writer of an owner reference that blocks; the admission that checks it leaves no request in the
   * log.
   */
  async function blocked(): Promise<Set<string>> {
    const objects = await home.kubectl.list<KubeObject>('deployments', home.namespace);
    const owners = objects.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
    const kinds = owners.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ kind }) => kind.toLowerCase());
    return new Set(kinds.map((kind) => `foyer.media/${kind}s/finalizers update`));
  }

  it('are all used: each verb on each kind', async () => {
    const does = used(requests).union(await blocked());
    const idle = granted(roles().flatMap(rulesOf)).filter((right) => !does.has(right));
    expect(requests.length).to.be.greaterThan(100);
    expect(idle).to.deep.equal([]);
  });

  it('suffice: nothing is refused', () => {
    const refused = requests.filter(({ code }) => code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
  });

  it('name every kind and verb, here and in the install for all namespaces', () => {
    const file = 'manifests/overlays/cluster-wide/access.yaml';
    const wide = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as KubeObject);
    const cluster = wide.filter(({ kind }) => kind === 'ClusterRole');
    const [role] = roles().filter(({ metadata }) => metadata.name === 'foyer-operator');
    expect(cluster.map(rulesOf)).to.deep.equal(role ? [rulesOf(role)] : []);
    expect(JSON.stringify([...roles(), ...cluster].map(rulesOf))).not.to.include('*');
  });

  it('keep to the namespace, and pods to Pod Security restricted', async () => {
    const elsewhere = requests.filter(({ namespace }) => namespace !== home.namespace && namespace !== '');
    expect(elsewhere.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const found = await home.kubectl.find<KubeObject>({ kind: 'namespace', name: home.namespace });
    expect(found?.metadata.labels).to.include({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    interface Reported extends KubeObject {
      reason: string;
      message: string;
    }
    const events = await home.kubectl.list<Reported>('events', home.namespace);
    const refused = events.filter(
      ({ reason, message }) => reason === 'FailedCreate' || message.includes('PodSecurity'),
    );
    expect(refused.map(({ message }) => message)).to.deep.equal([]);
  });
});
