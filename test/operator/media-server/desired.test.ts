import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { readConfig } from '#platform/config.ts';
import { violations } from './pod-security.ts';
import { managed, named, specs } from './specs.ts';
import { CANARY, MemoryKube, mediaServer, World } from './support.ts';

type Plain = Record<string, unknown>;

const GOLDEN = new URL('./golden/', import.meta.url);

async function settled(spec: Plain): Promise<World> {
  const world = new World(mediaServer(spec), new MemoryKube().put(...named));
  await world.settle();
  return world;
}

const made = (world: World): KubeObject[] =>
  [...world.kube.objects.values()].filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by']);

/** As they are sent: without fields that the cluster adds, and the record of the release, which repeats the rest. */
function sent(world: World): string {
  const objects = made(world)
    .filter(({ metadata }) => metadata.name !== 'home-release')
    .map(({ status: _status, ...object }) => {
      const { uid: _uid, generation: _generation, creationTimestamp: _made, ...metadata } = object.metadata;
      return { ...object, metadata };
    });
  return objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}

interface Template {
  spec: {
    containers: { name: string; args?: string[]; env?: Plain[]; resources?: Plain; volumeMounts?: Plain[] }[];
    [member: string]: unknown;
  };
}

const podsOf = (world: World): { name: string; template: Template }[] =>
  made(world).flatMap(({ kind, metadata, spec }) => {
    const { template } = (spec ?? {}) as { template?: Template };
    return template ? [{ name: `${kind} ${metadata.name}`, template }] : [];
  });

describe('objects of a MediaServer', () => {
  for (const [name, spec] of Object.entries(specs)) {
    it(`are those of the golden file: ${name}`, async () => {
      const text = sent(await settled(spec));
      const file = new URL(`${name}.yaml`, GOLDEN);
      if (process.env.UPDATE_GOLDEN) {
        mkdirSync(GOLDEN, { recursive: true });
        writeFileSync(file, text);
      }
      expect(existsSync(file), 'no golden file: run with UPDATE_GOLDEN=1').to.equal(true);
      expect(text).to.equal(readFileSync(file, 'utf8'));
    });
  }

  it('give processes an environment that they read', async () => {
    const world = await settled({ ...specs.external, ...{ media: specs.media?.media } });
    const reads = (path: string | undefined) => path?.endsWith('main.ts') && !path.includes('/parser/');
    const pods = podsOf(world).filter(({ template }) => reads(template.spec.containers[0]?.args?.[0]));
    expect(pods.map(({ name }) => name)).to.include.members(['Deployment home-api', 'Deployment home-workers']);
    for (const { template } of pods) {
      const config = readConfig(resolved(world, template));
      expect(config.mediaRoots.map(({ name, path, readOnly }) => [name, path, readOnly])).to.deep.equal([
        ['films', '/media/films', true],
        ['shows', '/media/shows', true],
        ['recordings', '/media/recordings', false],
      ]);
      expect(config.objectsUrl).to.equal(`s3://${CANARY}-3:${CANARY}-4@s3.other/?region=here&prefix=our-&tls=1`);
      const [script] = template.spec.containers[0]?.args ?? [];
      if (script?.includes('/transcode/') || script?.includes('/subtitles/')) {
        // It decodes foreign files: no key ring, and no secret but those of the stores.
        expect(JSON.stringify(template)).to.not.match(/"keys"|home-environment-\w+","key":"FOYER_SETTINGS"/);
        expect(Object.keys(config.declaredSettings).filter((key) => !key.startsWith('transcode.'))).to.deep.equal([]);
        expect(config.mediaRelay).to.equal('http://home-api:9090');
        continue;
      }
      expect(config.declaredSettings).to.deep.include({
        'server.name': 'Ours',
        'music.listenBrainzToken': `${CANARY}-6`,
        'email.smtp.password': `${CANARY}-5`,
        'auth.oidc.clientSecret': `${CANARY}-7`,
      });
      expect(config.managedBy).to.deep.include({ kind: 'MediaServer', namespace: 'media', name: 'home' });
      expect(config).to.deep.include({
        webhookNetworks: ['192.168.1.0/24'],
        clusterNetworks: ['10.244.0.0/16', '10.96.0.0/12'],
        keysFile: '/etc/foyer/keys/keys.json',
        mediaRelay: undefined,
      });
      expect(config).to.deep.include({ claimFrom: 'secret', metricsPort: 9090, port: 8080, host: '0.0.0.0' });
    }
  });

  it('mount the ConfigMap of spec.branding where it is shown and sent, and it is read there', async () => {
    const brand = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'brand', namespace: 'media' }, data: {} };
    const spec = { ...managed, branding: { configMapRef: { name: 'brand' } } };
    const world = new World(mediaServer(spec), new MemoryKube().put(...named, brand as KubeObject));
    await world.settle();
    const users = podsOf(world).filter(({ name }) => ['Deployment home-api', 'Deployment home-workers'].includes(name));
    expect(users.length).to.equal(2);
    for (const { template } of users) {
      expect(readConfig(resolved(world, template)).brandingDir).to.equal('/etc/foyer/branding');
      const [container] = template.spec.containers as { volumeMounts?: Plain[] }[];
      const mount = { name: 'branding', mountPath: '/etc/foyer/branding', readOnly: true };
      expect(container?.volumeMounts).to.deep.include(mount);
      const volume = { name: 'branding', configMap: { name: 'brand', defaultMode: 0o444 } };
      expect(template.spec.volumes).to.deep.include(volume);
    }
    expect(world.condition('BrandingReady')).to.equal('True Valid');
  });

  it('give the parser nothing that could be lost: no Secret, no volume, no address', async () => {
    const world = await settled({ ...specs.external, ...{ media: specs.media?.media } });
    const parser = podsOf(world).find(({ name }) => name === 'Deployment home-parser');
    const [container] = parser?.template.spec.containers ?? [];
    expect(parser?.template.spec).to.not.have.any.keys('volumes', 'initContainers');
    expect(parser?.template.spec.automountServiceAccountToken).to.equal(false);
    expect(container).to.not.have.any.keys('volumeMounts', 'envFrom');
    expect(container?.env?.map(({ name }) => name)).to.deep.equal([
      ...['FOYER_HOST', 'FOYER_METRICS_PORT', 'FOYER_PORT', 'NODE_ENV', 'NODE_OPTIONS'],
    ]);
    expect(JSON.stringify(parser)).to.not.match(/secret|canary/i);
    for (const name of ['Deployment home-api', 'Deployment home-workers']) {
      const asking = podsOf(world).find((pod) => pod.name === name);
      expect(readConfig(resolved(world, asking?.template as Template)).parserUrl).to.equal('http://home-parser:8082');
    }
  });

  it('run the migration with all that it makes true', async () => {
    const world = await settled({ ...managed, ownerSecretRef: { name: 'owner' } });
    const expand = podsOf(world).find(({ template }) => template.spec.containers[0]?.args?.[1] === 'expand');
    if (!expand) throw new Error('no expand Job');
    const config = readConfig(resolved(world, expand.template));
    expect(config.ownerFile).to.equal('/etc/foyer/owner/owner.json');
    expect(config.operatorKeySha256).to.match(/^[0-9a-f]{64}$/);
    expect(config.claimSha256).to.equal(undefined);
  });

  it('name each claim in one volume, however often it is mounted', async () => {
    const claim = (subPath?: string) => ({ claimName: 'films', ...(subPath && { subPath }) });
    const media = [
      { name: 'movies', persistentVolumeClaim: claim('movies') },
      { name: 'shows', persistentVolumeClaim: claim('shows'), readOnly: false },
      { name: 'all', persistentVolumeClaim: claim() },
      { name: 'other', persistentVolumeClaim: { claimName: 'models' } },
    ];
    const subtitles = { modelVolume: { persistentVolumeClaim: claim('models') } };
    const world = await settled({ ...managed, media, subtitles });
    for (const { name, template } of podsOf(world)) {
      const { volumes = [] } = template.spec as {
        volumes?: { name: string; persistentVolumeClaim?: { claimName: string } }[];
      };
      const claims = volumes.flatMap(({ persistentVolumeClaim: one }) => one?.claimName ?? []);
      expect(new Set(claims).size, name).to.equal(claims.length);
      const mounts = template.spec.containers.flatMap(({ volumeMounts = [] }) => volumeMounts as { name: string }[]);
      for (const mount of mounts) {
        const there = volumes.some((volume) => volume.name === mount.name) || mount.name === 'data';
        expect(there, `${name} mounts ${mount.name}`).to.equal(true);
      }
    }
    const models = podsOf(world).find(({ name }) => name === 'Deployment home-subtitles');
    expect(models?.template.spec.containers[0]?.volumeMounts).to.deep.include.members([
      { name: 'media-movies', mountPath: '/media/movies', subPath: 'movies', readOnly: true },
      { name: 'media-movies', mountPath: '/media/shows', subPath: 'shows' },
      { name: 'media-movies', mountPath: '/media/all', readOnly: true },
      { name: 'media-other', mountPath: '/media/other', readOnly: true },
      { name: 'media-movies', mountPath: '/models', subPath: 'models', readOnly: true },
    ]);
  });

  it('mount read-only volumes so, and no bucket', async () => {
    const world = await settled(specs.media ?? {});
    const api = podsOf(world).find(({ name }) => name === 'Deployment home-api');
    const [container] = (api?.template.spec.containers ?? []) as unknown as {
      volumeMounts?: { mountPath: string }[];
    }[];
    expect(container?.volumeMounts?.filter(({ mountPath }) => mountPath.startsWith('/media'))).to.deep.equal([
      { name: 'media-films', mountPath: '/media/films', subPath: 'a/b', readOnly: true },
      { name: 'media-shows', mountPath: '/media/shows', readOnly: true },
      { name: 'media-recordings', mountPath: '/media/recordings' },
    ]);
    expect(world.condition('MediaReady')).to.equal('True Valid');
    expect(world.message('MediaReady')).to.equal('Every volume exists, and the server reads every bucket');
  });
});

function resolved(world: World, template: Template): Record<string, string> {
  const entries = (template.spec.containers[0]?.env ?? []).map((entry) => {
    const { name, value, valueFrom } = entry as { name: string; value?: string; valueFrom?: Plain };
    const ref = valueFrom?.secretKeyRef as { name: string; key: string } | undefined;
    const data = ref && (world.kube.get('Secret', 'media', ref.name)?.data as Record<string, string>);
    const text = ref && Buffer.from(data?.[ref.key] ?? '', 'base64').toString('utf8');
    return [name, value ?? text ?? 'pod-1'];
  });
  return Object.fromEntries(entries);
}

describe('objects of any MediaServer', () => {
  const pick = (...names: string[]) => fc.constantFrom(...names).map((name) => specs[name] ?? {});
  const parts = fc.record({
    stores: pick('quickstart', 'external', 'cloudNativePG', 'mirrored'),
    api: fc.record({
      replicas: fc.integer({ min: 0, max: 5 }),
      autoscaling: fc.option(fc.constant({ min: 1, max: 4 }), { nil: undefined }),
      podDisruptionBudget: fc.option(fc.boolean(), { nil: undefined }),
    }),
    transcode: fc.constantFrom(specs.gpu?.transcode, { warm: 1, max: 2 }, { warm: 0, max: 0 }),
    subtitles: fc.constantFrom(specs.gpu?.subtitles, { scaleToZero: true }, undefined),
    ingress: fc.constantFrom(specs.autoscaled?.ingress, undefined),
    media: fc.constantFrom(specs.media?.media, []),
    monitoring: fc.record({ serviceMonitor: fc.boolean(), prometheusRule: fc.boolean(), dashboard: fc.boolean() }),
    networkPolicy: fc.record({ enabled: fc.boolean() }),
    ownerSecretRef: fc.constantFrom({ name: 'owner' }, undefined),
  });
  const anySpec = parts.map(({ stores, ...rest }) => {
    const { gateway: _gateway, ...kept } = stores as Plain;
    return JSON.parse(JSON.stringify({ ...kept, ...rest })) as Plain;
  });
  const holds = (check: (world: World, spec: Plain) => void) =>
    fc.assert(
      fc.asyncProperty(anySpec, async (spec) => check(await settled(spec), spec)),
      { numRuns: 40 },
    );

  it('are the same for the same resource', () =>
    fc.assert(
      fc.asyncProperty(anySpec, async (spec) => {
        const [one, other] = [await settled(spec), await settled(spec)];
        expect(sent(one)).to.equal(sent(other));
      }),
      { numRuns: 20 },
    ));

  it('hold secret values in Secrets alone, and so do status and events', () =>
    holds((world) => {
      for (const object of world.kube.objects.values())
        if (object.kind !== 'Secret') expect(JSON.stringify(object), object.kind).not.to.contain(CANARY);
      expect(JSON.stringify(world.kube.events)).not.to.contain(CANARY);
    }));

  it('pass Pod Security restricted, but for media that the resource requests', () =>
    holds((world) => {
      for (const { name, template } of podsOf(world))
        expect(violations(template.spec, ['nfs', 'hostPath']), name).to.deep.equal([]);
    }));

  it('have a read-only root, no token, requests and limits, and valid names', () =>
    holds((world) => {
      for (const { name, template } of podsOf(world)) {
        expect(template.spec.automountServiceAccountToken, name).to.equal(false);
        for (const { securityContext, resources } of template.spec.containers as Plain[]) {
          expect((securityContext as Plain).readOnlyRootFilesystem, name).to.equal(true);
          expect(resources, name).to.have.property('requests');
          expect(resources, name).to.have.nested.property('limits.memory');
        }
      }
      for (const { metadata } of made(world)) expect(metadata.name).to.match(/^[a-z][-a-z0-9]{0,62}$/);
    }));
});
