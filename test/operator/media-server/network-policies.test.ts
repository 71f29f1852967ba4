import { expect } from 'chai';
import { managed, named, running } from './specs.ts';
import { MemoryKube, mediaServer, secret, World } from './support.ts';

interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
  podSelector?: { matchLabels?: Record<string, string> };
  namespaceSelector?: { matchLabels: Record<string, string> };
}
interface Rule {
  to?: Peer[];
  ports?: { port: number }[];
}

const bucket = (endpoint: string) => ({ s3: { endpoint, bucket: 'backups', secretRef: { name: 's3' } } });
const NEAR = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const EVERYWHERE = ['0.0.0.0/0 but 169.254.0.0/16', '::/0 but fe80::/10'];

const inWords = ({ ipBlock, podSelector, namespaceSelector }: Peer): string => {
  if (ipBlock) return [ipBlock.cidr, ...(ipBlock.except ? ['but', ...ipBlock.except] : [])].join(' ');
  return Object.values((namespaceSelector ?? podSelector)?.matchLabels ?? {}).join(' ');
};
/** The targets and ports that a policy permits, but the first rule, which is always there. */
async function opened(
  name: string,
  spec: object,
  more: ReturnType<typeof secret>[] = [],
): Promise<[string[], number[]?][]> {
  const world = new World(mediaServer({ ...managed, ...spec }), new MemoryKube().put(...named, ...more));
  await world.settle();
  const { egress } = (world.kube.get('NetworkPolicy', 'media', name)?.spec ?? {}) as { egress: Rule[] };
  return egress.slice(1).map(({ to = [], ports }) => {
    return [to.map(inWords), ...(ports ? [ports.map(({ port }) => port)] : [])] as [string[], number[]?];
  });
}

describe('the way out of a server', () => {
  it('leads to the buckets of backups and the provider that the resource names, wherever they stand', async () => {
    expect(await opened('home-outside', {})).to.deep.equal([]);
    const backup = { destination: bucket('http://nas.lan:9000'), copyTo: bucket('https://10.1.2.3') };
    expect(await opened('home-outside', { backup })).to.deep.equal([[NEAR, [443, 9000]]]);
    const oidc = { issuer: 'https://id.example/r', clientId: 'foyer', clientSecretRef: { name: 'oidc' } };
    expect(await opened('home-outside', { oidc })).to.deep.equal([[NEAR, [443]]]);
  });

  it('leads to a Service by its namespace, since its pods may listen at another port', async () => {
    const oidc = { issuer: 'http://id.auth.svc/r', clientId: 'foyer', clientSecretRef: { name: 'oidc' } };
    expect(await opened('home-outside', { oidc })).to.deep.equal([[NEAR, [80]], [['auth']]]);
    const mail = secret('relay', { host: 'relay.post.svc.cluster.local', port: '25', from: 'a@example' });
    const email = { secretRef: { name: 'relay' } };
    expect(await opened('home-outside', { email, oidc }, [mail])).to.deep.equal([[NEAR, [25, 80]], [['auth', 'post']]]);
    const near = secret('near', { uri: 'redis://:p@cache:6380' });
    const redis = { secretRef: { name: 'near' } };
    expect(await opened('home-stores', { redis }, [near])).to.deep.equal([[EVERYWHERE, [6380]], [['media']]]);
  });

  it('leads to external stores wherever they are, but never to the metadata addresses of nodes', async () => {
    const stores = { postgres: { secretRef: { name: 'database' } }, objects: { secretRef: { name: 's3' } } };
    expect(await opened('home-stores', stores)).to.deep.equal([[EVERYWHERE, [443, 6432]]]);
    for (const policy of ['home-outside', 'home-stores'])
      expect(
        JSON.stringify((await running({ ...managed, ...stores })).kube.get('NetworkPolicy', 'media', policy)?.spec),
      ).to.not.match(/\{"ports"/);
  });

  it('leads to the pods of CloudNativePG, and to no other database', async () => {
    const postgres = { cloudNativePG: { storage: '1Gi' } };
    expect(await opened('home-stores', { postgres })).to.deep.equal([[['home-postgres'], [5432]]]);
  });
});
