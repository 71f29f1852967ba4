// HDHomeRun over HTTP: discover.json, lineup.json, status.json. Devices and programs of other makers support it too.
import { z } from 'zod';
import type { Lineup } from './lineup.ts';

const Discover = z.object({
  DeviceID: z.coerce.string().max(100).default(''),
  FriendlyName: z.string().max(200).default(''),
  ModelNumber: z.string().max(100).default(''),
  FirmwareVersion: z.string().max(100).default(''),
  TunerCount: z.coerce.number().int().min(0).max(64).default(1),
  LineupURL: z.string().optional(),
});

const flag = z
  .union([z.literal(0), z.literal(1), z.boolean()])
  .transform(Boolean)
  .default(false);

const Entry = z.object({
  GuideNumber: z.coerce.string().min(1).max(100),
  GuideName: z.string().max(500).default(''),
  URL: z.string().max(4096),
  HD: flag,
  DRM: flag,
  /** Older firmware names DRM here. */
  Tags: z.string().default(''),
  VideoCodec: z.string().optional(),
  AudioCodec: z.string().optional(),
});

const Tuner = z.object({
  Resource: z.string().default(''),
  VctNumber: z.string().optional(),
  TargetIP: z.string().optional(),
});

/** A response that is not a page. */
export class NoPage extends Error {}

/** Fetches JSON from an address; throws the error of the request. */
export type FetchJson = (url: string) => Promise<unknown>;

export interface DeviceEntry {
  number: string;
  name: string;
  url: string;
  hd: boolean;
  drm: boolean;
  radio: boolean;
}

export interface DeviceLineup {
  /** Undefined for old devices, which do not describe themselves. */
  device: { id: string; model: string; firmware: string; name: string } | undefined;
  tuners: number | undefined;
  entries: DeviceEntry[];
  /** Entries that are not those of a channel. */
  skipped: number;
}

const MOST_ENTRIES = 10_000;

/** Everything that a device, or a program in the name of one, offers. `base` is its address without a slash at the end. */
export async function readDevice(base: string, fetchJson: FetchJson): Promise<DeviceLineup> {
  const device = await discovered(base, fetchJson);
  const given = z
    .array(z.unknown())
    .max(MOST_ENTRIES)
    .parse(await fetchJson(lineupOf(base, device?.LineupURL)));
  const entries = given.flatMap((entry) => Entry.safeParse(entry).data ?? []);
  return {
    device: device && {
      id: device.DeviceID,
      model: device.ModelNumber,
      firmware: device.FirmwareVersion,
      name: device.FriendlyName,
    },
    tuners: device?.TunerCount,
    entries: entries.map(entryOf),
    skipped: given.length - entries.length,
  };
}

/** Old devices have no discover.json and are known by their lineup. */
async function discovered(base: string, fetchJson: FetchJson): Promise<z.output<typeof Discover> | undefined> {
  try {
    return Discover.parse(await fetchJson(`${base}/discover.json`));
  } catch (error) {
    if (!(error instanceof NoPage) || !error.message.endsWith('404')) throw error;
    return undefined;
  }
}

/** A lineup elsewhere is not followed: programs behind a proxy name addresses that only they reach. */
function lineupOf(base: string, url: string | undefined): string {
  const isHere = url !== undefined && URL.canParse(url) && new URL(url).host === new URL(base).host;
  return isHere ? url : `${base}/lineup.json`;
}

function entryOf({ GuideNumber, GuideName, URL: url, ...entry }: z.output<typeof Entry>): DeviceEntry {
  return {
    number: GuideNumber,
    name: GuideName || GuideNumber,
    url,
    hd: entry.HD,
    drm: entry.DRM || /(^|,)drm(,|$)/i.test(entry.Tags),
    radio: entry.AudioCodec !== undefined && !entry.VideoCodec,
  };
}

/** `base` is `http://address`, without a path. */
export async function readHdhomerun(base: string, fetchJson: FetchJson): Promise<Lineup> {
  const { device, tuners, entries } = await readDevice(base, fetchJson);
  const open = entries.filter(({ drm }) => !drm);
  return {
    tuners: tuners ?? 1,
    encrypted: entries.length - open.length,
    channels: open.map(({ drm: _drm, ...channel }) => channel),
    ...(device && { device }),
  };
}

/**
 * Tuners in use according to status.json; undefined if the device has none. Throws if it is no such device, or
 * unavailable.
 */
export async function tunersInUse(base: string, fetchJson: FetchJson): Promise<number | undefined> {
  const answer = z.array(z.unknown()).safeParse(await fetchJson(`${base}/status.json`).catch(none));
  if (!answer.success) {
    Discover.parse(await fetchJson(`${base}/discover.json`));
    return undefined;
  }
  const tuners = answer.data.flatMap((entry) => Tuner.safeParse(entry).data ?? []);
  return tuners.filter(({ Resource, VctNumber, TargetIP }) => Resource.startsWith('tuner') && (VctNumber ?? TargetIP))
    .length;
}

function none(error: unknown): undefined {
  if (!(error instanceof NoPage || error instanceof SyntaxError)) throw error;
}
