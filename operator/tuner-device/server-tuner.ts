// A TunerDevice becomes a tuner of the server through the public API.
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { ManagedBy } from '../library/server-library.ts';
import { digest } from '../runtime/canonical.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { refusalText, type SendRequest } from '../server-api/server-client.ts';

const Owner = z.object({ kind: z.string(), namespace: z.string(), name: z.string(), uid: z.string() });

/** The members of a tuner that are used here. */
export const ServerTuner = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['hdhomerun', 'm3u']),
  libraryId: z.string(),
  enabled: z.boolean(),
  slotCount: z.int(),
  numbering: z.enum(['source', 'sequential']),
  managedBy: Owner.nullish(),
});
export type ServerTuner = z.output<typeof ServerTuner>;

const Tuners = z.object({ items: z.array(ServerTuner) });
const Libraries = z.array(
  z.object({
    id: z.string(),
    type: z.string(),
    createdAt: z.string(),
    managedBy: z.object({ kind: z.string(), name: z.string() }).nullish(),
    folders: z.array(z.object({ id: z.string(), storageId: z.string() })),
  }),
);
export type LiveLibrary = z.output<typeof Libraries>[number];

/** All tuners of the server; undefined when it does not list them now. */
export async function listServerTuners(request: SendRequest): Promise<ServerTuner[] | undefined> {
  const { status, body } = await request('GET', '/live/tuners');
  return status === 200 ? Tuners.parse(body).items : undefined;
}

/** Libraries of type livetv, the oldest first. */
export async function listLiveLibraries(request: SendRequest): Promise<LiveLibrary[]> {
  const { status, body } = await request('GET', '/libraries?type=livetv');
  if (status !== 200) return [];
  return Libraries.parse(body).toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

/** The library of a device: that of its libraryRef, else the oldest. */
export const libraryOf = (
  { libraryRef }: Pick<TunerDeviceSpec, 'libraryRef'>,
  libraries: readonly LiveLibrary[],
): LiveLibrary | undefined =>
  libraryRef === undefined
    ? libraries[0]
    : libraries.find(({ managedBy }) => managedBy?.kind === 'Library' && managedBy.name === libraryRef.name);

export interface DeclaredTuner {
  name: string;
  spec: TunerDeviceSpec;
  /** Address of the playlist, where a Secret holds it. */
  url: string | undefined;
}

/** What the resource declares, as the API spells it. */
export function tunerBody(
  { name, spec, url }: DeclaredTuner,
  library: LiveLibrary,
  mediaId: (name: string) => string,
): Record<string, unknown> {
  const { include, exclude, numbering } = spec.channels;
  const media = spec.recordings?.media;
  const folder = media && library.folders.find(({ storageId }) => storageId === mediaId(media));
  return {
    name: (spec.displayName ?? name).slice(0, 60),
    ...sourceOf(spec, url),
    ...(include.length > 0 && { include: { groups: [], globs: include } }),
    ...(exclude.length > 0 && { exclude: { groups: [], globs: exclude } }),
    numbering,
    bufferMinutes: spec.timeshift.minutes,
    ...(folder && { recordingsFolderId: folder.id }),
  };
}

function sourceOf({ source: { hdhomerun, m3u } }: TunerDeviceSpec, url: string | undefined): Record<string, unknown> {
  if (hdhomerun) {
    const { address, deviceId } = hdhomerun;
    return address ? { url: `http://${isIPv6(address) ? `[${address}]` : address}` } : { deviceId };
  }
  return {
    url: url ?? m3u?.url,
    slotCount: m3u?.maxStreams,
    ...(m3u?.userAgent && { userAgent: m3u.userAgent }),
  };
}

/** A declared tuner in the server, or why it is not there. */
export interface SyncedTuner {
  tunerId?: string;
  verdict: Verdict;
}

interface Syncing {
  request: SendRequest;
  managedBy: ManagedBy;
  libraries: readonly LiveLibrary[];
  mediaId: (name: string) => string;
  existing: ServerTuner | undefined;
  /** Digest of the last request; it is changed here. */
  sent: Map<string, string>;
}

/** Fields that a later version of the resource may leave out: they return to none. */
const OPTIONAL = ['include', 'exclude', 'recordingsFolderId', 'userAgent'];

/** Creates or changes the tuner of a resource. Throws Unreachable. */
export async function syncTuner(declared: DeclaredTuner, syncing: Syncing): Promise<SyncedTuner> {
  const { request, managedBy, libraries, mediaId, existing, sent } = syncing;
  const library = existing
    ? libraries.find(({ id }) => id === existing.libraryId)
    : libraryOf(declared.spec, libraries);
  if (!library) return { verdict: missing(declared.spec) };
  const body = tunerBody(declared, library, mediaId);
  const wanted = digest(body);
  if (existing && sent.get(managedBy.uid) === wanted) return { tunerId: existing.id, verdict: IN_SYNC };
  const kind = declared.spec.source.hdhomerun ? 'hdhomerun' : 'm3u';
  const cleared = Object.fromEntries(OPTIONAL.filter((name) => !(name in body)).map((name) => [name, null]));
  const answer = existing
    ? await request('PATCH', `/live/tuners/${existing.id}`, { ...cleared, ...body, managedBy })
    : await request('POST', '/live/tuners', { ...body, kind, libraryId: library.id, managedBy });
  if (answer.status >= 300)
    return { ...(existing && { tunerId: existing.id }), verdict: not('ApiRefused', refusalText(answer)) };
  if (existing) sent.set(managedBy.uid, wanted); // a new one is sent once more, because the server may have known it
  return { tunerId: ServerTuner.parse(answer.body).id, verdict: IN_SYNC };
}

const IN_SYNC: Verdict = {
  type: 'Synced',
  status: 'True',
  reason: 'InSync',
  message: 'The server holds the declared state',
};
const not = (reason: 'ApiRefused' | 'LibraryMissing', message: string): Verdict => ({
  ...{ type: 'Synced', status: 'False', reason, message },
});

function missing({ libraryRef }: TunerDeviceSpec): Verdict {
  const which = libraryRef ? `Library ${libraryRef.name} of type livetv` : 'a library of type livetv';
  return not('LibraryMissing', `there is no ${which} yet: the tuner waits for it`);
}

/** The spec of a tuner that was added in the app, for the process of its device. */
export function specOfTuner({ name, kind, slotCount, numbering }: ServerTuner): object {
  const source = kind === 'm3u' ? { m3u: { maxStreams: slotCount } } : { hdhomerun: {} };
  return { displayName: name, source, channels: { include: [], exclude: [], numbering } };
}
