// Volumes of a pod and their mounts.

import type { Volume, VolumeMount } from '../../runtime/manifest.ts';

export interface Mounted {
  volumes: Volume[];
  mounts: VolumeMount[];
}

/** Merges volumes of the same claim into the first one: kubelet never finishes a pod with two volumes of one claim. */
export function oneVolumePerClaim({ volumes, mounts }: Mounted): Mounted {
  const first = new Map<string, string>();
  for (const { name, persistentVolumeClaim: claim } of volumes)
    if (claim && !first.has(claim.claimName)) first.set(claim.claimName, name);
  const keptAs = new Map(
    volumes.map(({ name, persistentVolumeClaim: claim }) => [name, (claim && first.get(claim.claimName)) ?? name]),
  );
  const renamed = mounts.map((mount) => ({
    ...mount,
    name: keptAs.get(mount.name) ?? mount.name,
  }));
  return { volumes: volumes.filter(({ name }) => keptAs.get(name) === name), mounts: renamed };
}
