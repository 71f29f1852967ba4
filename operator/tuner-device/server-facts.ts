// What a server knows about its tuners: read once for all devices of the server.
import { z } from 'zod';
import type { SendRequest } from '../server-api/server-client.ts';
import type { PodStatus } from './verdicts.ts';

/** The resource that declares a record. */
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
  slots: z.array(z.object({ viewers: z.int().default(0), recordings: z.int() })).default([]),
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

async function listServerTuners(request: SendRequest): Promise<ServerTuner[] | undefined> {
  const { status, body } = await request('GET', '/live/tuners');
  return status === 200 ? Tuners.parse(body).items : undefined;
}

/** Libraries of type livetv, the oldest first. */
async function listLiveLibraries(request: SendRequest): Promise<LiveLibrary[]> {
  const { status, body } = await request('GET', '/libraries?type=livetv');
  if (status !== 200) return [];
  return Libraries.parse(body).toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

const ServerGuide = z.object({
  id: z.string(),
  kind: z.enum(['xmltv', 'tuner']),
  tunerId: z.string().optional(),
  managedBy: Owner.nullish(),
  programs: z.int(),
  lastRefreshAt: z.string().optional(),
});
export type ServerGuide = z.output<typeof ServerGuide>;

const Guides = z.object({ items: z.array(ServerGuide) });
const Schedule = z.object({
  items: z.array(
    z.object({
      tunerId: z.string().optional(),
      recording: z.object({ state: z.string(), startAt: z.string(), startPadMs: z.int() }),
    }),
  ),
});

export interface ServerFacts {
  tuners: readonly ServerTuner[];
  libraries: readonly LiveLibrary[];
  guides: readonly ServerGuide[];
  /** By tuner: when its next recording begins, as an ISO time. */
  next: ReadonlyMap<string, string>;
}

/** Undefined when the server does not list its tuners now. Throws Unreachable. */
export async function readFacts(request: SendRequest): Promise<ServerFacts | undefined> {
  const tuners = await listServerTuners(request);
  if (!tuners) return undefined;
  const [libraries, guides, next] = [
    await listLiveLibraries(request),
    await listGuides(request),
    tuners.length > 0 ? await nextRecordings(request) : new Map<string, string>(),
  ];
  return { tuners, libraries, guides, next };
}

async function listGuides(request: SendRequest): Promise<ServerGuide[]> {
  const { status, body } = await request('GET', '/live/guide/sources');
  return status === 200 ? Guides.parse(body).items : [];
}

async function nextRecordings(request: SendRequest): Promise<Map<string, string>> {
  const { status, body } = await request('GET', '/live/schedule');
  const next = new Map<string, string>();
  if (status !== 200) return next;
  for (const { tunerId, recording } of Schedule.parse(body).items) {
    if (tunerId === undefined || recording.state !== 'scheduled') continue;
    const at = new Date(Date.parse(recording.startAt) - recording.startPadMs).toISOString();
    const known = next.get(tunerId);
    if (known === undefined || at < known) next.set(tunerId, at);
  }
  return next;
}

/** The members of the status of a resource that the server knows better than the process of its tuner. */
export function statusFrom({ tuners, guides, next }: ServerFacts, uid: string): Partial<PodStatus> {
  const tuner = tuners.find(({ managedBy }) => managedBy?.uid === uid);
  if (!tuner) return {};
  const guide = guides.find(({ managedBy }) => managedBy?.uid === uid);
  const nextRecordingAt = next.get(tuner.id);
  return {
    recording: tuner.slots.some(({ recordings }) => recordings > 0),
    live: tuner.slots.filter(({ viewers }) => viewers > 0).length,
    recordings: tuner.slots.reduce((sum, slot) => sum + slot.recordings, 0),
    ...(guide && { programmes: guide.programs, lastGuideRefresh: guide.lastRefreshAt ?? null }),
    ...(nextRecordingAt !== undefined && { nextRecordingAt }),
  };
}
