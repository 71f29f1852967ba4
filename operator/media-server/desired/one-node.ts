// Claims that one node at a time can mount, and the affinity that places the pods sharing one on the same node.
import type { KubeObject } from '../../runtime/kube.ts';
import type { Affinity, PodAffinityTerm, Volume } from '../../runtime/manifest.ts';
import { type Component, selectorOf } from './meta.ts';

/** How widely a claim can be mounted: by all nodes, by one node, or by one pod. */
export type Sharing = 'any' | 'one-node' | 'one-pod';

export function sharingOf({ spec }: KubeObject): Sharing {
  const { accessModes = [] } = (spec ?? {}) as { accessModes?: string[] };
  if (accessModes.length === 0 || accessModes.some((mode) => /Many$/.test(mode))) return 'any';
  return accessModes.includes('ReadWriteOnce') ? 'one-node' : 'one-pod';
}

/** Components that mount all media. */
const OF_MEDIA: readonly Component[] = ['api', 'workers', 'transcode', 'subtitles', 'backup', 'restore'];

const term = (server: { name: string }, components: readonly Component[]): PodAffinityTerm => ({
  labelSelector: {
    matchLabels: selectorOf(server),
    matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: components }],
  },
  topologyKey: 'kubernetes.io/hostname',
});

interface Sharer {
  server: { name: string };
  /** Claims that only one node at a time can mount. */
  oneNode: ReadonlySet<string>;
  /** Claims of the server's media. */
  media: readonly string[];
}

/** The affinity of a pod whose volumes include a claim that binds it to one node; undefined for other pods. */
export function affinityOf(volumes: readonly Volume[], { server, oneNode, media }: Sharer): Affinity | undefined {
  const claims = volumes.flatMap(({ persistentVolumeClaim: claim }) =>
    claim && oneNode.has(claim.claimName) ? [claim.claimName] : [],
  );
  if (claims.length === 0) return undefined;
  const ofMedia = claims.some((claim) => media.includes(claim));
  const ofModels = claims.some((claim) => !media.includes(claim));
  const terms = [...(ofMedia ? [term(server, OF_MEDIA)] : []), ...(ofModels ? [term(server, ['subtitles'])] : [])];
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}
