// Makes the volumes of the StorageClass `standard` of hack/cluster: a folder of this machine for each claim, removed with it.
//   node provisioner.ts KUBECONFIG FOLDER NODE
// They are `local` volumes, so that a pod's fsGroup applies to them as to a cloud's disks. It lists twice a second:
// on a cluster of one machine this is simpler than a watch.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, client } from './client.ts';

const PROVISIONER = 'foyer.media/folder';
const CLASS = 'standard';
const PERIOD_MS = 500;

interface Claim {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    storageClassName?: string;
    volumeName?: string;
    volumeMode?: string;
    accessModes: string[];
    resources: { requests: { storage: string } };
  };
}
interface Volume {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { persistentVolumeReclaimPolicy: string; claimRef?: { uid: string } };
  status?: { phase?: string };
}
function volumeFor(claim: Claim, path: string, node: string): object {
  const { name, namespace, uid } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}`, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      storageClassName: CLASS,
      persistentVolumeReclaimPolicy: 'Delete',
      accessModes: claim.spec.accessModes,
      capacity: { storage: claim.spec.resources.requests.storage },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    },
  };
}

const ours = (volume: Volume) => volume.metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === PROVISIONER;

/** One pass: creates folders and volumes for claims that have none, and deletes those of deleted claims. */
async function look(call: Call, folder: string, node: string): Promise<void> {
  const volumes = (await call<{ items: Volume[] }>('GET', '/api/v1/persistentvolumes')).items.filter(ours);
  const claims = (await call<{ items: Claim[] }>('GET', '/api/v1/persistentvolumeclaims')).items;
  const served = new Set(volumes.map(({ spec }) => spec.claimRef?.uid));
  for (const claim of claims) {
    const waits = claim.spec.storageClassName === CLASS && !claim.spec.volumeName && claim.spec.volumeMode !== 'Block';
    if (!waits || served.has(claim.metadata.uid)) continue;
    const path = join(folder, `pvc-${claim.metadata.uid}`);
    mkdirSync(path, { recursive: true });
    await call('POST', '/api/v1/persistentvolumes', volumeFor(claim, path, node));
  }
  for (const { metadata, spec, status } of volumes) {
    if (status?.phase !== 'Released' || spec.persistentVolumeReclaimPolicy !== 'Delete') continue;
    await call('DELETE', `/api/v1/persistentvolumes/${metadata.name}`);
    rmSync(join(folder, metadata.name), { recursive: true, force: true });
  }
}

const [kubeconfig = '', folder = '', node = ''] = process.argv.slice(2);
const call = client(kubeconfig);
for (;;) {
  await look(call, folder, node).catch((error: Error) => process.stderr.write(`${error.message}\n`));
  await sleep(PERIOD_MS);
}
