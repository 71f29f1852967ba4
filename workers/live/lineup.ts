// Reads what a tuner offers, through the guarded client.
import { buffer } from 'node:stream/consumers';
import { requestOf } from '#areas/live-tv/public.ts';
import type { Objects } from '#platform/objects.ts';
import type { Outbound, OutboundOptions } from '#platform/outbound.ts';
import { withoutTail } from '#platform/text.ts';
import type { findDevice } from '../tuner/discovery.ts';
import { type DeviceLineup, type FetchJson, NoPage, readDevice } from '../tuner/hdhomerun.ts';
import { NotAPlaylist, type PlaylistEntry, readPlaylist } from '../tuner/m3u.ts';
import type { Entry, LiveLineup } from './entries.ts';

const PLAYLIST_BYTES = 64 << 20;
const LINEUP_BYTES = 16 << 20;
const BEGINNING_BYTES = 2048;

/** Where a lineup is, with its credentials. */
export interface LineupPlace {
  kind: 'hdhomerun' | 'm3u';
  url?: string | undefined;
  deviceId?: string | undefined;
  object?: string | undefined;
  headers?: Record<string, string> | undefined;
  userAgent?: string | undefined;
}

export interface Reach {
  outbound: Outbound;
  networks: OutboundOptions;
  objects: Pick<Objects, 'get'>;
  find: typeof findDevice;
  signal?: AbortSignal;
}

/** It answered, but not as a tuner of its kind. */
export class NotItsKind extends Error {}

/** The whole lineup. Throws the error of the request, and NotItsKind. */
export async function readLineup(place: LineupPlace, reach: Reach, timeoutMs: number): Promise<LiveLineup> {
  if (place.kind === 'hdhomerun') return ofDevice(await asItsKind(() => readOf(place, reach, timeoutMs)));
  const text = await playlistText(place, reach, { maxBytes: PLAYLIST_BYTES, timeoutMs });
  const { entries, guides, skipped } = await asItsKind(async () => readPlaylist(text));
  const guide = guides.find((address) => /^https?:\/\//i.test(address));
  return { kind: 'm3u', entries: entries.map(ofPlaylist), skipped, ...(guide && { guide }) };
}

/** Whether it answers as its kind, and what a device says of itself: of a playlist only the beginning is read. */
export async function tryLineup(place: LineupPlace, reach: Reach, timeoutMs: number): Promise<Partial<LiveLineup>> {
  if (place.kind === 'hdhomerun') return ofDevice(await asItsKind(() => readOf(place, reach, timeoutMs)));
  const text = await playlistText(place, reach, { maxBytes: BEGINNING_BYTES, timeoutMs });
  await asItsKind(async () => readPlaylist(text));
  return {};
}

async function asItsKind<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotAPlaylist) throw new NotItsKind(`This is no M3U playlist: ${error.message}`);
    if (error instanceof SyntaxError || (error as Error).name === 'ZodError')
      throw new NotItsKind('The answer is not that of an HDHomeRun');
    throw error;
  }
}

/** Address of a device without a slash or file at the end. */
export const baseOf = (url: string): string =>
  withoutTail(withoutTail(url, '/').replace(/\/(discover|lineup|lineup_status)\.json$/, ''), '/');

/** Fetches JSON of a device with the credentials of its tuner. */
export function fetchJsonOf(place: LineupPlace, { outbound, networks, signal }: Reach, timeoutMs: number): FetchJson {
  return async (url) => {
    const request = requestOf(url);
    const headers = { ...request.headers, ...headersOf(place) };
    const options = {
      ...networks,
      headers,
      secretHeaders: Object.keys(place.headers ?? {}),
      timeoutMs,
      maxBytes: LINEUP_BYTES,
      ...(signal && { signal }),
    };
    const answer = await outbound(request.url, options);
    if (answer.status !== 200) throw new NoPage(`the device answered ${answer.status}`);
    return JSON.parse(answer.body.toString('utf8'));
  };
}

/** Address of the device, found by broadcast where only its id is known. */
export async function deviceBase({ url, deviceId }: LineupPlace, { find }: Reach): Promise<string> {
  if (url !== undefined) return baseOf(url);
  const found = deviceId && (await find({ deviceId }));
  if (!found) throw new Error(`no device ${deviceId} answered the broadcast`);
  return baseOf(found);
}

async function readOf(place: LineupPlace, reach: Reach, timeoutMs: number): Promise<DeviceLineup> {
  return readDevice(await deviceBase(place, reach), fetchJsonOf(place, reach, timeoutMs));
}

const headersOf = ({ headers, userAgent }: LineupPlace): Record<string, string> => ({
  ...(userAgent && { 'user-agent': userAgent }),
  ...headers,
});

async function playlistText(
  place: LineupPlace,
  { outbound, networks, objects, signal }: Reach,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<string> {
  if (place.object !== undefined) {
    const bytes = await objects.get('foyer-live', place.object, { start: 0, end: maxBytes - 1 });
    return (await buffer(bytes)).toString('utf8');
  }
  if (place.url === undefined) throw new Error('no address of a playlist is known');
  const request = requestOf(place.url);
  const headers = { ...request.headers, ...headersOf(place) };
  const cut = maxBytes < PLAYLIST_BYTES;
  const options = {
    ...networks,
    headers,
    secretHeaders: Object.keys(place.headers ?? {}),
    maxBytes,
    cut,
    timeoutMs,
    ...(signal && { signal }),
  };
  const answer = await outbound(request.url, options);
  if (answer.status !== 200) throw new NoPage(`the address of the playlist answered ${answer.status}`);
  return answer.body.toString('utf8');
}

function ofDevice({ device, tuners, entries, skipped }: DeviceLineup): LiveLineup {
  return {
    kind: 'hdhomerun',
    entries: entries.map(({ hd, radio, ...entry }): Entry => {
      return { ...entry, radio, quality: radio ? 'audio' : hd ? 'hd' : 'sd' };
    }),
    skipped,
    ...(device && { device: { id: device.id.toUpperCase(), model: device.model, firmware: device.firmware } }),
    ...(tuners !== undefined && tuners > 0 && { slotCount: tuners }),
  };
}

const UHD = /\b(uhd|4k|2160p)\b/i;
const HD = /\b(f?hd|1080[pi]?|720p)\b/i;

const qualityOf = (name: string): Entry['quality'] => (UHD.test(name) ? 'uhd' : HD.test(name) ? 'hd' : undefined);

function ofPlaylist({ name, url, number, group, guideId, logo, radio }: PlaylistEntry): Entry {
  return { name, url, number, group, guideId, logo, radio, drm: false, quality: radio ? 'audio' : qualityOf(name) };
}
