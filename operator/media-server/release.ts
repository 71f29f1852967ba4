// The last roll-out. Until the next migration completed, and while the spec has faults, this release stays in force. It
// stores the built objects, so that drift is corrected and another operator version changes nothing meanwhile.
import { z } from 'zod';
import type { KubeObject } from '../runtime/kube.ts';
import type { Manifest } from '../runtime/manifest.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { metaOf } from './desired/meta.ts';
import type { TranscodeTemplates } from './desired/transcode.ts';
import type { Server } from './server.ts';

/** As in the spec. */
export type ManagedStores = Partial<{
  postgres: NonNullable<Spec['postgres']['managed']>;
  redis: NonNullable<Spec['redis']['managed']>;
  objects: NonNullable<Spec['objects']['managed']>;
}>;
type Spec = MediaServerSpec;

const Release = z.object({
  /** Hash of the expand Job before the roll-out. */
  hash: z.string(),
  /** Name of the Secret with the settings and the URL of the object store. */
  environment: z.string(),
  claimSha256: z.string().optional(),
  deployments: z.array(z.custom<Manifest<'Deployment'>>()),
  /** Hash of the templates for new transcode Jobs. */
  transcode: z.string(),
  /** By hash: the current templates, and older ones of Jobs that still run. */
  templates: z.record(z.string(), z.custom<TranscodeTemplates>()),
  /** Managed stores that running pods may still use, by their name in the spec. */
  managed: z.custom<ManagedStores>().optional(),
  /** Hash of the value of foyer.media/owner-recovery that was handled. */
  recovered: z.string().optional(),
  /** The Job of the current restore, by the last report of the server. */
  restore: z.custom<Manifest<'Job'>>().optional(),
});
export type Release = z.output<typeof Release>;

const KEY = 'release.json';
export const RELEASE = 'release';

export const releaseObject = (server: Server, release: Release): Manifest<'ConfigMap'> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metaOf(server, { suffix: RELEASE }),
  data: { [KEY]: JSON.stringify(release) },
});

/** Undefined before the first roll-out, and for a record that cannot be read, which is then built again. */
export function releaseOf(object: KubeObject | undefined): Release | undefined {
  const text = (object?.data as Record<string, string> | undefined)?.[KEY];
  if (text === undefined) return undefined;
  try {
    return Release.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Replicas follow the spec at once, even while the roll-out waits. */
export function withReplicas(
  held: readonly Manifest<'Deployment'>[],
  built: readonly Manifest<'Deployment'>[],
): Manifest<'Deployment'>[] {
  return held.map((object) => {
    const next = built.find(({ metadata }) => metadata.name === object.metadata.name);
    if (!next?.spec || !object.spec) return object;
    const { replicas } = next.spec;
    const { replicas: _before, ...spec } = object.spec;
    return { ...object, spec: { ...(replicas !== undefined && { replicas }), ...spec } };
  });
}
