// Deletion of a TunerDevice: its tuner is deleted. Neither a recording nor an unavailable server blocks it forever.
import { after, done, type Kube, type KubeObject, type Outcome } from '../runtime/kube.ts';
import { type ServerName, serverNameOf } from '../server-api/servers.ts';
import { tunerName } from './desired.ts';
import { isRecording, observeTuner, type Work } from './observe.ts';
import { rowIn } from './stores.ts';

const LOOK_MS = 15_000;
/** The maximum time that a deletion waits for a recording. */
const PATIENCE_MS = 12 * 3_600_000;
/** The maximum time that a deletion waits for the server. */
const REMOVAL_MS = 10 * 60_000;
const SKIP = 'foyer.media/skip-cleanup';

/** Deletion waits for the end of a recording, and for the server to delete the tuner, each up to a limit. */
export async function release(object: KubeObject, work: Work): Promise<Outcome> {
  const { kube, reports, now } = work;
  const { uid = '', deletionTimestamp = now.toISOString(), annotations } = object.metadata;
  const waitedMs = now.getTime() - Date.parse(deletionTimestamp);
  const mayWait = (limitMs: number): boolean => annotations?.[SKIP] !== 'true' && waitedMs <= limitMs;
  const server = serverOf(object, kube);
  const recording = await records(object, server, work);
  if (recording && mayWait(PATIENCE_MS)) return after(LOOK_MS);
  const left = server && (await leftOn(server, object, work));
  if (left !== undefined && mayWait(REMOVAL_MS)) return after(LOOK_MS);
  for (const message of skippedOf(recording, left))
    kube.event(object, { type: 'Warning', reason: 'CleanupSkipped', message });
  reports.delete(uid);
  await kube.setFinalizer(object, false);
  return done;
}

/** Why the tuner could not be deleted; a pod without a tuner has none. */
async function leftOn(server: ServerName, object: KubeObject, { kube, tools }: Work): Promise<string | undefined> {
  const { namespace = '', name } = object.metadata;
  const left = await tools.servers.remove(object, server, kube);
  return rowIn(kube.get('Deployment', namespace, tunerName({ name }))) === undefined ? undefined : left;
}

const skippedOf = (recording: boolean, left: string | undefined): string[] => [
  ...(recording ? ['The device is released during a recording'] : []),
  ...(left === undefined ? [] : [`${left}: the tuner stays on the server and can be deleted there`]),
];

async function records(object: KubeObject, server: ServerName | undefined, work: Work): Promise<boolean> {
  const known = server && (await work.tools.servers.known(object, server, work.kube));
  return isRecording(object, await observeTuner(object, work), known);
}

/** The server of a resource, unless it is gone. */
function serverOf(object: KubeObject, kube: Kube): ServerName | undefined {
  const { namespace = '' } = object.metadata;
  const name = serverNameOf(object) ?? '';
  const server = kube.get('MediaServer', namespace, name);
  return server && !server.metadata.deletionTimestamp ? { namespace, name } : undefined;
}
