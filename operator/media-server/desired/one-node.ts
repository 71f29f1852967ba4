// Claims that one node at a time can mount, and how the pods that share one are kept together.
import type { KubeObject } from '../../runtime/kube.ts';
import { type Component, selectorOf } from './meta.ts';

/** Who may mount a claim: all nodes, one node at a time, or one pod alone. */
export type Sharing = 'any' | 'one-node' | 'one-pod';

export function sharingOf({ spec }: KubeObject): Sharing {
  const { accessModes = [] } = (spec ?? {}) as { accessModes?: string[] };
  if (accessModes.length === 0 || accessModes.some((mode) => /Many$/.test(mode))) return 'any';
  return accessModes.includes('ReadWriteOnce') ? 'one-node' : 'one-pod';
}

/** All of these mount all media. */
const OF_MEDIA: readonly Component[] = ['api', 'workers', 'transcode', 'subtitles', 'backup', 'restore'];

const term = (server: { name: string }, components: readonly Component[]): object => ({
  labelSelector: {
    matchLabels: selectorOf(server),
    matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: components }],
  },
  topologyKey: 'kubernetes.io/hostname',
});

interface Sharer {
  server: { name: string };
  /** Claims that one node at a time can mount. */
  oneNode: ReadonlySet<string>;
  /** Of the server's media. */
  media: readonly string[];
}

/** The affinity of a pod with these volumes, if it shares a claim that binds it to the node of the others. */
export function affinityOf(volumes: readonly object[], { server, oneNode, media }: Sharer): object | undefined {
  const claims = (volumes as { persistentVolumeClaim?: { claimName: string } }[]).flatMap(
    ({ persistentVolumeClaim: claim }) => (claim && oneNode.has(claim.claimName) ? [claim.claimName] : []),
  );
  if (claims.length === 0) return undefined;
  const ofMedia = claims.some((claim) => media.includes(claim));
  const ofModels = claims.some((claim) => !media.includes(claim));
  const terms = [...(ofMedia ? [term(server, OF_MEDIA)] : []), ...(ofModels ? [term(server, ['subtitles'])] : [])];
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
}
