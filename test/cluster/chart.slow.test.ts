// Each value of the chart, by the real Helm: where it ends up, and which values are refused.
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { defaults, Values } from '../../hack/manifests/values.ts';
import { goTool, printed } from './support/hack.ts';

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec?: object;
}

/** A value, and the place in the operator's Deployment with its content then. */
const PLACES: Record<string, [given: unknown, place: string, there: unknown]> = {
  replicas: [2, 'spec.replicas', 2],
  registry: [
    'mirror.example:5000/team',
    'spec.template.spec.containers[0].image',
    `mirror.example:5000/team/${defaults.image}`,
  ],
  image: ['mirror.example:5000/foyer:9', 'spec.template.spec.containers[0].image', 'mirror.example:5000/foyer:9'],
  imagePullPolicy: ['Always', 'spec.template.spec.containers[0].imagePullPolicy', 'Always'],
  imagePullSecrets: [[{ name: 'pull' }], 'spec.template.spec.imagePullSecrets', [{ name: 'pull' }]],
  resources: [{ limits: { memory: '1Gi' } }, 'spec.template.spec.containers[0].resources.limits.memory', '1Gi'],
  nodeSelector: [{ disk: 'true' }, 'spec.template.spec.nodeSelector', { disk: 'true' }],
  tolerations: [
    [{ key: 'k', operator: 'Exists' }],
    'spec.template.spec.tolerations',
    [{ key: 'k', operator: 'Exists' }],
  ],
  priorityClassName: ['high', 'spec.template.spec.priorityClassName', 'high'],
  podAnnotations: [{ 'a/b': 'x: y' }, 'spec.template.metadata.annotations', { 'a/b': 'x: y' }],
};
/** Passed to the operator by a variable. */
const VARIABLES: Record<string, [given: unknown, Record<string, string>]> = {
  registry: ['mirror.example/a', { FOYER_IMAGE: `mirror.example/a/${defaults.image}` }],
  image: ['foyer:9', { FOYER_IMAGE: 'foyer:9' }],
  stores: [
    { postgres: 'p:1', redis: 'r:1', minio: 'm:1' },
    { FOYER_POSTGRES_IMAGE: 'p:1', FOYER_REDIS_IMAGE: 'r:1', FOYER_MINIO_IMAGE: 'm:1' },
  ],
  logLevel: ['warn', { FOYER_LOG_LEVEL: 'warn' }],
  clusterNetworks: [['10.244.0.0/16', 'fd00::/8'], { FOYER_CLUSTER_NETWORKS: '10.244.0.0/16,fd00::/8' }],
};
/** Of which objects there are; test/cluster/manifests compares them. */
const OBJECTS = ['clusterWide', 'crds', 'namespace'];

describe('values of the chart', function () {
  this.timeout(600_000); // Helm may have to be built
  let helm: string;
  before(async () => {
    helm = await goTool('helm');
  });

  const template = async (values: object): Promise<Manifest[]> => {
    const words = ['template', 'foyer', 'manifests/chart', '-n', 'foyer', '--kube-version', '1.34.0', '-f', '-'];
    const text = await printed(helm, words, stringify(values));
    return parseAllDocuments(text)
      .map((document) => document.toJS() as Manifest | null)
      .filter((object) => object !== null);
  };
  const operator = async (values: object): Promise<Manifest> => {
    const found = (await template(values)).find(({ kind }) => kind === 'Deployment');
    if (!found) throw new Error('no Deployment');
    return found;
  };

  it('are all looked at here', () => {
    const known = [...Object.keys(PLACES), ...Object.keys(VARIABLES), ...OBJECTS];
    expect([...new Set(known)].sort()).to.deep.equal(Object.keys(Values.shape).sort());
  });

  for (const [name, [given, place, there]] of Object.entries(PLACES))
    it(`are where they belong: ${name}`, async () => {
      expect(await operator({ [name]: given })).to.have.deep.nested.property(place, there);
    });

  for (const [name, [given, expected]] of Object.entries(VARIABLES))
    it(`are passed to the operator: ${name}`, async () => {
      const deployment = JSON.stringify(await operator({ [name]: given }));
      for (const [variable, value] of Object.entries(expected))
        expect(deployment).to.contain(`{"name":"${variable}","value":${JSON.stringify(value)}}`);
    });

  for (const value of [
    { replicas: 'many' },
    { logLevel: 'loud' },
    { colour: 'red' },
    { stores: { postgres: '' } },
    { nodeSelector: { disk: true } },
    { clusterNetworks: ['10.0.0.0/33'] },
    { imagePullSecrets: ['pull'] },
  ])
    it(`are refused where they are invalid: ${JSON.stringify(value)}`, async () => {
      const refused = await template(value).catch((error: Error) => error.message);
      expect(refused).to.include("don't meet the specifications of the schema");
    });
});
