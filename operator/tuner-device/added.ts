// Tuners that were added in the app: a pod each, as for a TunerDevice, for as long as the server has them.
import type { DefaultImages } from '../media-server/desired/images.ts';
import { isSuspended } from '../media-server/server.ts';
import { after, type Controller, done, type Key, type Kube, type KubeObject, OWNER } from '../runtime/kube.ts';
import { MediaServerSpec } from '../schemas/media-server.ts';
import { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { secretText } from '../server-api/servers.ts';
import { type Tuner, tunerName, tunerObjects } from './desired.ts';
import { TUNER_ROW } from './labels.ts';
import type { ServerTuner } from './server-facts.ts';
import { specOfTuner } from './server-tuner.ts';
import type { ServerTuners } from './server-tuners.ts';
import { storesOf } from './stores.ts';

/** A tuner is up about ten seconds after it was added. */
const LOOK_MS = 6000;
const about = (ms: number): number => ms * (0.8 + Math.random() * 0.4);

const KINDS = ['Deployment', 'Service', 'NetworkPolicy'];

export interface AddedTools {
  images: DefaultImages;
  servers: ServerTuners;
}

export function addedTunersController(tools: AddedTools): Controller {
  return {
    kind: 'MediaServer',
    name: 'added-tuners',
    watches: [
      { apiVersion: 'apps/v1', kind: 'Deployment', keys: () => [] },
      { apiVersion: 'v1', kind: 'Service', keys: () => [] },
      { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', keys: () => [] },
      { apiVersion: 'v1', kind: 'Secret', keys: () => [] },
    ],
    async reconcile(key, kube) {
      const server = kube.get('MediaServer', key.namespace, key.name);
      if (!server || server.metadata.deletionTimestamp || isSuspended(server)) return done;
      const spec = MediaServerSpec.safeParse(server.spec);
      const facts = spec.success ? await tools.servers.facts(kube, key) : undefined;
      if (!spec.success || !facts) return after(about(LOOK_MS));
      const rows = facts.tuners.filter(({ managedBy, enabled }) => !managedBy && enabled);
      const objects = rows.flatMap((row) => objectsOf(row, { key, spec: spec.data, kube, tools }));
      const before = KINDS.flatMap((kind) => kube.list(kind, key.namespace, { [OWNER]: server.metadata.uid ?? '' }));
      const own = before.filter(({ metadata }) => metadata.labels?.[TUNER_ROW] !== undefined);
      await kube.apply(server, objects, { prune: new Set(own.map(({ metadata }) => metadata.uid ?? '')) });
      return after(about(LOOK_MS));
    },
  };
}

interface Place {
  key: Key;
  spec: MediaServerSpec;
  kube: Kube;
  tools: AddedTools;
}

function objectsOf(row: ServerTuner, { key, spec, kube, tools }: Place): KubeObject[] {
  const keys = secretText(kube, { ...key, name: `${key.name}-keys` }, 'keys.json');
  const tuner: Tuner = {
    name: `${key.name}-${row.id.slice(0, 8)}`,
    namespace: key.namespace,
    spec: specOf(row, key),
    server: { name: key.name, spec },
    images: tools.images,
    secrets: new Map(keys === undefined ? [] : [[`${key.name}-keys`, { 'keys.json': keys }]]),
    oneNode: new Set(),
  };
  const stores = storesOf(kube, tuner, tunerName(tuner));
  if (!stores) return [];
  return tunerObjects({ ...tuner, row: { id: row.id, stores } }).map((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [TUNER_ROW]: row.id } },
  }));
}

/** The defaults of a TunerDevice; the process reads the address of the device from the row. */
function specOf(row: ServerTuner, { name }: Key): TunerDeviceSpec {
  const source = { m3u: { url: 'http://tuner.invalid/' } };
  return { ...TunerDeviceSpec.parse({ serverRef: { name }, source }), ...specOfTuner(row) };
}
