// A Library resource that is being deleted: its rows go too, or are let go of. A server that is gone does not hold it for ever.
import { after, done, type Kube, type KubeObject, type Outcome } from '../runtime/kube.ts';
import { LibrarySpec, type LibraryStatus } from '../schemas/library.ts';
import { type LibraryList, NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import type { Servers } from '../server-api/servers.ts';
import { releaseLibrary } from './library.ts';

/** The longest that a deletion waits for the server. */
const PATIENCE_MS = 10 * 60_000;
const AGAIN_MS = 15_000;
/** With the value "true", the deletion waits for nothing. */
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
  const gone = nobodyToAsk(object, kube);
  const fault = gone ?? (await letGo(object, kube, servers));
  const waited = now.getTime() - Date.parse(object.metadata.deletionTimestamp ?? now.toISOString());
  const gaveUp = object.metadata.annotations?.[SKIP] === 'true' || waited > patienceMs;
  if (fault !== undefined && gone === undefined && !gaveUp)
    return after(Math.min(AGAIN_MS, patienceMs - waited + 1000));
  if (fault !== undefined) tellLeft(object, fault, kube);
  await kube.setFinalizer(object, false);
  return done;
}

/** Why waiting would be of no use: a server that goes leaves its data, and takes nobody's wishes any more. */
function nobodyToAsk({ metadata: { namespace = '' }, spec }: KubeObject, kube: Kube): string | undefined {
  const { serverRef } = (spec ?? {}) as { serverRef?: { name?: string } };
  const server = kube.get('MediaServer', namespace, serverRef?.name ?? '');
  if (!server || server.metadata.deletionTimestamp) return `MediaServer ${serverRef?.name} is gone`;
  return LibrarySpec.safeParse(spec).success ? undefined : 'the spec does not fit this operator';
}

/** Of rows that were to go. */
function tellLeft(object: KubeObject, fault: string, kube: Kube): void {
  const { libraryId } = (object.status ?? {}) as LibraryStatus;
  const { deletionPolicy } = (object.spec ?? {}) as { deletionPolicy?: string };
  if (deletionPolicy !== 'Delete') return;
  const which = libraryId ?? object.metadata.name;
  const message = `${fault}; what the server had of library ${which} stays in its data and can be deleted there`;
  kube.event(object, { type: 'Warning', reason: 'CleanupSkipped', message });
}

/** What is in the way, or undefined. */
async function letGo(object: KubeObject, kube: Kube, servers: Servers): Promise<string | undefined> {
  const spec = LibrarySpec.parse(object.spec);
  const namespace = object.metadata.namespace ?? '';
  const { name } = spec.serverRef;
  const list = servers.libraries(kube, { namespace, name });
  if (!list) return `MediaServer ${name} is not set up`;
  try {
    const gone = await releaseLibrary(spec, await statusOf(object, list), list.ask);
    return gone ? undefined : `MediaServer ${name} refused`;
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof NoList)) throw error;
    return `MediaServer ${name} does not answer`;
  }
}

/** An operator that died between making the library and saying so has left no id. */
async function statusOf(object: KubeObject, list: LibraryList): Promise<LibraryStatus> {
  const status = (object.status ?? {}) as LibraryStatus;
  const libraryId = status.libraryId ?? (await list.madeFor(object.metadata.uid ?? ''));
  return libraryId === undefined ? status : { ...status, libraryId };
}
