// The content of manifests/: accepted by the real API server, the same by kustomize, install.yaml and Helm, and with
// least privilege.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { goTool, printed } from './support/hack.ts';
import type { Kubectl } from './support/kubectl.ts';
import { until } from './support/until.ts';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}

const KEEP = 'helm.sh/resource-policy';
const objectsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);

/** By kind and name; the chart's mark on the definitions is no difference. */
function byName(objects: readonly Manifest[]): Record<string, Manifest> {
  return Object.fromEntries(
    objects.map((object) => {
      const { annotations: { [KEEP]: _keep, ...rest } = {}, ...metadata } = object.metadata;
      const marked = Object.keys(rest).length > 0 ? { ...metadata, annotations: rest } : metadata;
      return [`${object.kind} ${metadata.name}`, { ...object, metadata: marked }];
    }),
  );
}

const folders = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === 'kustomization.yaml')
    .map((entry) => entry.parentPath);

describe('manifests', function () {
  this.timeout(120_000);
  let cluster: Cluster;
  let kubectl: Kubectl;
  let helm: string;

  before(async function () {
    this.timeout(UP_MS);
    [cluster, helm] = await Promise.all([controlPlane(), goTool('helm')]);
    kubectl = cluster.kubectl;
    await kubectl.run([
      'apply',
      '--server-side',
      '--force-conflicts',
      '--validate=strict',
      '-f',
      'manifests/install.yaml',
    ]);
  });
  after(async () => {
    await kubectl.run([
      'delete',
      '--wait=false',
      '--ignore-not-found',
      '-f',
      'manifests/overlays/gpu/accelerator.yaml',
    ]);
    await kubectl.deleteNamespace('foyer');
  });

  const kustomized = async (overlay: string) =>
    objectsOf(await kubectl.run(['kustomize', `manifests/overlays/${overlay}`]));
  const template = (...set: string[]) =>
    printed(helm, ['template', 'foyer', 'manifests/chart', '-n', 'foyer', '--kube-version', '1.34.0', ...set]);
  const strictly = (path: string[], how = 'server') =>
    kubectl.run(['apply', '--server-side', '--force-conflicts', `--dry-run=${how}`, '--validate=strict', ...path]);

  it('install.yaml is the namespaced overlay', async () => {
    const installed = byName(objectsOf(readFileSync('manifests/install.yaml', 'utf8')));
    expect(byName(await kustomized('namespaced'))).to.deep.equal(installed);
    expect(Object.keys(installed)).to.have.length(11);
  });

  for (const [overlay, set] of [
    ['namespaced', []],
    ['cluster-wide', ['--set', 'clusterWide=true']],
  ] as const)
    it(`the chart is the ${overlay} overlay, but for the namespace, which is Helm's to make`, async () => {
      const { 'Namespace foyer': namespace, ...wanted } = byName(await kustomized(overlay));
      expect(byName(objectsOf(await template(...set)))).to.deep.equal(wanted);
      const made = byName(objectsOf(await template(...set, '--set', 'namespace.create=true')));
      expect(made['Namespace foyer']).to.deep.equal(namespace);
    });

  it('the chart keeps the definitions when its release is deleted, and omits them on request', async () => {
    const definitions = objectsOf(await template()).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions.map(({ metadata }) => metadata.annotations?.[KEEP])).to.deep.equal(['keep', 'keep', 'keep']);
    expect(await template('--set', 'crds.install=false')).not.to.include('CustomResourceDefinition');
  });

  it('the API server takes every overlay, as it is written', async () => {
    for (const overlay of readdirSync('manifests/overlays')) await strictly(['-k', `manifests/overlays/${overlay}`]);
  });

  it('the API server takes every sample, as it is written', async () => {
    const files = readdirSync('manifests/samples').filter((name) => name.endsWith('.yaml'));
    expect(files.length).to.be.greaterThan(3);
    for (const file of files) await strictly(['-n', 'foyer', '-f', `manifests/samples/${file}`]);
    const trees = folders('manifests/samples');
    expect(trees).to.have.length(2);
    for (const tree of trees) await strictly(['-k', tree]);
  });

  it('GitOps trees name folders that are there', async () => {
    const flux = objectsOf(readFileSync('manifests/flux/foyer.yaml', 'utf8')).map(
      (object) => object as { spec?: { path?: string } },
    );
    const argo = objectsOf(readFileSync('manifests/argocd/applications.yaml', 'utf8')).map(
      (object) => object as { spec?: { source?: { path?: string } } },
    );
    const paths = [...flux.map(({ spec }) => spec?.path), ...argo.map(({ spec }) => spec?.source?.path)].filter(
      (path) => path !== undefined,
    );
    expect(paths).to.have.length(6);
    for (const path of paths) expect(readdirSync(path)).to.include('kustomization.yaml');
  });

  it('the namespace holds pods to Pod Security `restricted`, and the operator passes', async () => {
    const label = 'pod-security.kubernetes.io/enforce';
    const words = ['get', 'namespace', 'foyer', '-o', `jsonpath={.metadata.labels.${label.replaceAll('.', '\\.')}}`];
    expect(await kubectl.run(words)).to.equal('restricted');
    const { err } = await kubectl.attempt([
      'label',
      'namespace',
      'foyer',
      '--dry-run=server',
      '--overwrite',
      `${label}=restricted`,
    ]);
    expect(err).not.to.include('violate');
    const made = await kubectl.run(['get', 'events', '-n', 'foyer', '-o', 'jsonpath={.items[*].message}']);
    expect(made).not.to.include('violates PodSecurity');
  });

  it("the operator's permissions have no wildcard, and stay in its namespace", async () => {
    const all = [...(await kustomized('namespaced')), ...(await kustomized('cluster-wide'))];
    const rules = all.flatMap((object) => object.rules ?? []);
    expect(rules.length).to.be.greaterThan(20);
    for (const { apiGroups, resources, verbs } of rules)
      expect([...apiGroups, ...resources, ...verbs]).not.to.include('*');
    const may = async (...words: string[]) =>
      (
        await kubectl.attempt(['auth', 'can-i', '--as=system:serviceaccount:foyer:foyer-operator', ...words])
      ).out.trim();
    // The API server learns of new bindings by watches of its own, a moment after their apply.
    const granted = async (...words: string[]) => (await may(...words, '-n', 'foyer')) === 'yes';
    await until('the right to StatefulSets', () => granted('create', 'statefulsets.apps'), 30_000);
    await until(
      'the right to status',
      () => granted('patch', 'mediaservers.foyer.media', '--subresource=status'),
      30_000,
    );
    expect(await granted('update', 'mediaservers.foyer.media', '--subresource=finalizers')).to.equal(true);
    expect(await granted('patch', 'mediaservers.foyer.media'), 'specs are for people').to.equal(false);
    expect(await may('get', 'secrets', '-n', 'default')).to.equal('no');
    expect(await may('create', 'roles.rbac.authorization.k8s.io', '-n', 'foyer')).to.equal('no');
    expect(await may('list', 'nodes')).to.equal('no');
  });
});

describe('the health that Argo CD computes', () => {
  const config = parse(readFileSync('manifests/argocd/argocd-cm.yaml', 'utf8')) as { data: Record<string, string> };
  const lua = Object.values(config.data)[0] ?? '';

  /** As a Lua table. */
  function literal(value: unknown): string {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (Array.isArray(value)) return `{${value.map(literal).join(', ')}}`;
    return `{${Object.entries(value)
      .map(([key, inner]) => `[${JSON.stringify(key)}] = ${literal(inner)}`)
      .join(', ')}}`;
  }
  const healthOf = async (object: object) => {
    const script = `local obj = ${literal(object)}\nlocal function health()\n${lua}\nend\nprint(health().status)`;
    return (await printed('lua5.4', ['-'], script)).trim();
  };
  const conditions = (...types: string[]) =>
    ['Ready', 'Stalled', 'Degraded', 'Reconciling'].map((type) => ({
      type,
      status: types.includes(type) ? 'True' : 'False',
      message: type,
    }));
  const seen = (...types: string[]) => ({
    metadata: { generation: 2 },
    spec: {},
    status: { observedGeneration: 2, conditions: conditions(...types) },
  });

  it('is the same for the three kinds', () => {
    expect(Object.keys(config.data)).to.have.length(3);
    expect(new Set(Object.values(config.data)).size).to.equal(1);
  });

  for (const [object, status] of [
    [{ metadata: { generation: 1 }, spec: {} }, 'Progressing'],
    [seen(), 'Progressing'],
    [seen('Reconciling'), 'Progressing'],
    [seen('Ready'), 'Healthy'],
    [seen('Ready', 'Degraded'), 'Degraded'],
    [seen('Stalled'), 'Degraded'],
    [{ ...seen('Ready'), metadata: { generation: 3 } }, 'Progressing'],
    [{ ...seen('Ready'), spec: { suspend: true } }, 'Suspended'],
    [{ metadata: { generation: 2, annotations: { 'foyer.media/reconcile': 'paused' } }, spec: {} }, 'Suspended'],
  ] as const)
    it(`is ${status} for ${JSON.stringify(object).slice(0, 60)}`, async () => {
      expect(await healthOf(object)).to.equal(status);
    });
});
