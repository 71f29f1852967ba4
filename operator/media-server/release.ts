// What was rolled out last. Until the migration of the next one is through, and while the spec is faulty, this stays in force:
// built objects, word for word, so that drift is put right and another operator version changes nothing meanwhile.
import { z } from 'zod';
import type { KubeObject } from '../runtime/kube.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { metaOf } from './desired/meta.ts';
import type { TranscodeTemplates } from './desired/transcode.ts';
import type { Server } from './server.ts';

/** As the spec has them. */
export type ManagedStores = Partial<{
  postgres: NonNullable<Spec['postgres']['managed']>;
  redis: NonNullable<Spec['redis']['managed']>;
  objects: NonNullable<Spec['objects']['managed']>;
}>;
type Spec = MediaServerSpec;

const Release = z.object({
  /** Of the expand Job that it waited for. */
  hash: z.string(),
  /** Name of the Secret with settings and object store. */
  environment: z.string(),
  claimSha256: z.string().optional(),
  deployments: z.array(z.custom<KubeObject>()),
  /** Hash of the templates that transcode Jobs are made from. */
  transcode: z.string(),
  /** By their hash: those in force, and older ones of Jobs that still run. */
  templates: z.record(z.string(), z.custom<TranscodeTemplates>()),
  /** Managed stores that pods use which may still run, by their name in the spec. */
  managed: z.custom<ManagedStores>().optional(),
  /** The value of foyer.media/owner-recovery that was answered, as a hash. */
  recovered: z.string().optional(),
  /** The Job of the restore that is under way, as the server told last. */
  restore: z.custom<KubeObject>().optional(),
});
export type Release = z.output<typeof Release>;

const KEY = 'release.json';
export const RELEASE = 'release';

export const releaseObject = (server: Server, release: Release): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metaOf(server, { suffix: RELEASE }),
  data: { [KEY]: JSON.stringify(release) },
});

/** Undefined before the first roll-out; one that cannot be read is made again. */
export function releaseOf(object: KubeObject | undefined): Release | undefined {
  const text = (object?.data as Record<string, string> | undefined)?.[KEY];
  if (text === undefined) return undefined;
  try {
    return Release.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The number of pods follows the spec at once, whatever the roll-out waits for. */
export function withReplicas(held: readonly KubeObject[], built: readonly KubeObject[]): KubeObject[] {
  return held.map((object) => {
    const next = built.find(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name);
    if (!next) return object;
    const { replicas } = next.spec as { replicas?: number };
    const { replicas: _before, ...spec } = object.spec as { replicas?: number };
    return { ...object, spec: { ...(replicas !== undefined && { replicas }), ...spec } };
  });
}
