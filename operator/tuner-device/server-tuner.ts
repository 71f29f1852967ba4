// A TunerDevice becomes a tuner of the server through the public API.
import { isIPv6 } from 'node:net';
import type { ManagedBy } from '../library/server-library.ts';
import { digest } from '../runtime/canonical.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { refusalText, type SendRequest } from '../server-api/server-client.ts';
import { type LiveLibrary, type ServerFacts, ServerTuner, statusFrom } from './server-facts.ts';
import { syncGuide } from './server-guide.ts';
import type { PodStatus } from './verdicts.ts';

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
  /** Address of the guide, likewise. */
  guideUrl: string | undefined;
}

/** What the resource declares, as the API spells it. */
export function tunerBody(
  { name, spec, url }: DeclaredTuner,
  folder: LiveLibrary['folders'][number] | undefined,
): Record<string, unknown> {
  const { include, exclude, numbering } = spec.channels;
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
  /** The tuner is as declared; its guide may not be. */
  isServed: boolean;
  /** What the server knows about it. */
  known: Partial<PodStatus>;
}

interface Syncing {
  request: SendRequest;
  managedBy: ManagedBy;
  facts: ServerFacts;
  mediaId: (name: string) => string;
  /** Digests of the last requests; they are changed here. */
  sent: Map<string, string>;
}

/** Creates or changes the tuner of a resource and its guide source. Throws Unreachable. */
export async function syncTuner(declared: DeclaredTuner, syncing: Syncing): Promise<SyncedTuner> {
  const { request, managedBy, facts, sent } = syncing;
  const { uid } = managedBy;
  const existing = facts.tuners.find((one) => one.managedBy?.uid === uid);
  const synced = await syncRow(declared, { ...syncing, existing });
  const known = statusFrom(facts, uid);
  const isServed = synced.isServed ?? synced.verdict.status === 'True';
  if (synced.tunerId === undefined || !isServed) return { ...synced, isServed, known };
  const guide = facts.guides.find((one) => one.managedBy?.uid === uid);
  const refusal = await syncGuide(declared, { request, managedBy, tunerId: synced.tunerId, existing: guide, sent });
  return { ...synced, isServed, known, ...(refusal !== undefined && { verdict: not('ApiRefused', refusal) }) };
}

/** Fields that a later version of the resource may leave out: they return to none. */
const OPTIONAL = ['include', 'exclude', 'recordingsFolderId', 'userAgent'];

type SyncedRow = Pick<SyncedTuner, 'tunerId' | 'verdict'> & Partial<Pick<SyncedTuner, 'isServed'>>;

async function syncRow(
  declared: DeclaredTuner,
  syncing: Syncing & { existing: ServerTuner | undefined },
): Promise<SyncedRow> {
  const { request, managedBy, existing } = syncing;
  if (existing) return changeRow(declared, { ...syncing, existing });
  const { library, folder } = recordingsOf(declared, syncing);
  if (!library) return { verdict: missing(declared.spec) };
  const kind = declared.spec.source.hdhomerun ? 'hdhomerun' : 'm3u';
  const body = { ...tunerBody(declared, folder), kind, libraryId: library.id, managedBy };
  const answer = await request('POST', '/live/tuners', body);
  if (answer.status >= 300) return { verdict: not('ApiRefused', refusalText(answer)) };
  return { tunerId: ServerTuner.parse(answer.body).id, verdict: IN_SYNC }; // it is sent once more, because the server may have known it
}

/** The channels stay in their library. Recordings made later join another one that libraryRef names since. */
async function changeRow(declared: DeclaredTuner, syncing: Syncing & { existing: ServerTuner }): Promise<SyncedRow> {
  const { request, managedBy, existing, sent } = syncing;
  const { id: tunerId } = existing;
  const { fault, folder } = recordingsOf(declared, syncing);
  const verdict = fault ?? IN_SYNC;
  const body = tunerBody(declared, folder);
  const wanted = digest({ ...body, fault: fault?.message });
  if (sent.get(managedBy.uid) === wanted) return { tunerId, verdict, isServed: true };
  const left = OPTIONAL.filter((name) => !(name in body || (fault && name === 'recordingsFolderId'))); // recordings go on where they went
  const cleared = Object.fromEntries(left.map((name) => [name, null]));
  const answer = await request('PATCH', `/live/tuners/${tunerId}`, { ...cleared, ...body, managedBy });
  if (answer.status >= 300) return { tunerId, verdict: not('ApiRefused', refusalText(answer)) };
  sent.set(managedBy.uid, wanted);
  return { tunerId, verdict, isServed: true };
}

interface Recordings {
  /** The library that recordings join. */
  library?: LiveLibrary | undefined;
  folder?: LiveLibrary['folders'][number] | undefined;
  /** Why recordings cannot join the declared library. */
  fault?: Verdict;
}

/** Where the recordings of a device go: into the folder of the declared media, and in another library than that of its channels into any. */
function recordingsOf(
  { spec }: DeclaredTuner,
  { facts, mediaId, existing }: Syncing & { existing: ServerTuner | undefined },
): Recordings {
  const own = facts.libraries.find(({ id }) => id === existing?.libraryId);
  const library = existing && !spec.libraryRef ? own : libraryOf(spec, facts.libraries);
  if (!library) return { fault: missing(spec) };
  const isOther = existing !== undefined && library !== own;
  const folder = folderIn(library, { media: spec.recordings?.media, mediaId, isOther });
  return { library, folder, ...(isOther && !folder && { fault: withoutFolder(spec) }) };
}

function folderIn(
  { folders }: LiveLibrary,
  { media, mediaId, isOther }: { media: string | undefined; mediaId: Syncing['mediaId']; isOther: boolean },
): Recordings['folder'] {
  if (media !== undefined) return folders.find(({ storageId }) => storageId === mediaId(media));
  return isOther ? folders[0] : undefined;
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

function withoutFolder({ libraryRef, recordings }: TunerDeviceSpec): Verdict {
  const place = recordings ? `in the media ${recordings.media}` : 'for recordings';
  return not('LibraryMissing', `Library ${libraryRef?.name ?? ''} has no folder ${place}: add one to its spec.folders`);
}

/** The spec of a tuner that was added in the app, for the process of its device. */
export function specOfTuner({ name, kind, slotCount, numbering }: ServerTuner): object {
  const source = kind === 'm3u' ? { m3u: { maxStreams: slotCount } } : { hdhomerun: {} };
  return { displayName: name, source, channels: { include: [], exclude: [], numbering } };
}
