// Deletion of a Library resource: its library is deleted or released. A server that is gone does not block the deletion
// forever.
import { after, done, type Kube, type KubeObject, type Outcome } from '../runtime/kube.ts';
import { LibrarySpec, type LibraryStatus } from '../schemas/library.ts';
import { type LibraryList, NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import type { Servers } from '../server-api/servers.ts';
import { releaseLibrary } from './library.ts';

/** The maximum time that a deletion waits for the server. */
const PATIENCE_MS = 10 * 60_000;
const AGAIN_MS = 15_000;
/** With the value "true", the deletion does not wait. */
export const SKIP = 'foyer.media/skip-cleanup';

interface Work {
  kube: Kube;
  servers: Servers;
  now: Date;
  patienceMs?: number;
}

export async function release(
  object: KubeObject,
  { kube, servers, now, patienceMs = PATIENCE_MS }: Work,
): Promise<Outcome> {
  const gone = whyNotToWait(object, kube);
  const fault = gone ?? (await releaseFromServer(object, kube, servers));
  const waited = now.getTime() - Date.parse(object.metadata.deletionTimestamp ?? now.toISOString());
  const gaveUp = object.metadata.annotations?.[SKIP] === 'true' || waited > patienceMs;
  if (fault !== undefined && gone === undefined && !gaveUp)
    return after(Math.min(AGAIN_MS, patienceMs - waited + 1000));
  if (fault !== undefined) reportLeft(object, fault, kube);
  await kube.setFinalizer(object, false);
  return done;
}

/** The reason why waiting is pointless: a server that is being deleted keeps its data and accepts no changes. */
function whyNotToWait({ metadata: { namespace = '' }, spec }: KubeObject, kube: Kube): string | undefined {
  const { serverRef } = (spec ?? {}) as { serverRef?: { name?: string } };
  const server = kube.get('MediaServer', namespace, serverRef?.name ?? '');
  if (!server || server.metadata.deletionTimestamp) return `MediaServer ${serverRef?.name} is gone`;
  return LibrarySpec.safeParse(spec).success ? undefined : 'the spec is not valid for this operator';
}

/** Reports data that should have been deleted and was not. */
function reportLeft(object: KubeObject, fault: string, kube: Kube): void {
  const { libraryId } = (object.status ?? {}) as LibraryStatus;
  const { deletionPolicy } = (object.spec ?? {}) as { deletionPolicy?: string };
  if (deletionPolicy !== 'Delete') return;
  const which = libraryId ?? object.metadata.name;
  const message = `${fault}; the data of library ${which} stays on the server and can be deleted there`;
  kube.event(object, { type: 'Warning', reason: 'CleanupSkipped', message });
}

/** The reason why the library could not be released, or undefined. */
async function releaseFromServer(object: KubeObject, kube: Kube, servers: Servers): Promise<string | undefined> {
  const spec = LibrarySpec.parse(object.spec);
  const namespace = object.metadata.namespace ?? '';
  const { name } = spec.serverRef;
  const list = servers.libraries(kube, { namespace, name });
  if (!list) return `MediaServer ${name} is not set up`;
  try {
    const gone = await releaseLibrary(spec, await statusOf(object, list), list.request);
    return gone ? undefined : `MediaServer ${name} refused`;
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof NoList)) throw error;
    return `MediaServer ${name} does not answer`;
  }
}

/** An operator that crashed after creating the library and before writing the status has left no id. */
async function statusOf(object: KubeObject, list: LibraryList): Promise<LibraryStatus> {
  const status = (object.status ?? {}) as LibraryStatus;
  const libraryId = status.libraryId ?? (await list.madeFor(object.metadata.uid ?? ''));
  return libraryId === undefined ? status : { ...status, libraryId };
}
