// Volumes of a pod and where they are mounted.

interface Volume {
  name: string;
  persistentVolumeClaim?: { claimName: string };
}

export interface Mounted {
  volumes: object[];
  mounts: object[];
}

/**
 * One volume for each claim, under the name of its first, and all mounts of it. Kubelet never finishes a pod that names a claim in two
 * volumes.
 */
export function oneVolumePerClaim({ volumes, mounts }: Mounted): Mounted {
  const all = volumes as Volume[];
  const first = new Map<string, string>();
  for (const { name, persistentVolumeClaim: claim } of all)
    if (claim && !first.has(claim.claimName)) first.set(claim.claimName, name);
  const keptAs = new Map(
    all.map(({ name, persistentVolumeClaim: claim }) => [name, (claim && first.get(claim.claimName)) ?? name]),
  );
  const renamed = (mounts as { name: string }[]).map((mount) => ({
    ...mount,
    name: keptAs.get(mount.name) ?? mount.name,
  }));
  return { volumes: all.filter(({ name }) => keptAs.get(name) === name), mounts: renamed };
}
