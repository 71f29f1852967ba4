// HDHomeRun over HTTP: discover.json, lineup.json, status.json. Devices and programs of other makers support it too.
import { z } from 'zod';
import type { Lineup } from './lineup.ts';

const Discover = z.object({
  DeviceID: z.string().default(''),
  FriendlyName: z.string().default(''),
  ModelNumber: z.string().default(''),
  FirmwareVersion: z.string().default(''),
  TunerCount: z.coerce.number().int().min(0).max(64).default(1),
  LineupURL: z.string().optional(),
});

const flag = z
  .union([z.literal(0), z.literal(1), z.boolean()])
  .transform(Boolean)
  .default(false);

const Entry = z.object({
  GuideNumber: z.coerce.string(),
  GuideName: z.string().default(''),
  URL: z.string(),
  HD: flag,
  DRM: flag,
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

/** `base` is `http://address`, without a path. */
export async function readHdhomerun(base: string, fetchJson: FetchJson): Promise<Lineup> {
  const device = Discover.parse(await fetchJson(`${base}/discover.json`));
  const entries = z
    .array(z.unknown())
    .max(10_000)
    .parse(await fetchJson(device.LineupURL ?? `${base}/lineup.json`));
  const known = entries.flatMap((entry) => Entry.safeParse(entry).data ?? []);
  const open = known.filter(({ DRM }) => !DRM);
  return {
    tuners: device.TunerCount,
    encrypted: known.length - open.length,
    channels: open.map(({ GuideNumber, GuideName, URL: url, HD }) => {
      return { number: GuideNumber, name: GuideName || GuideNumber, url, hd: HD, radio: false };
    }),
    device: {
      id: device.DeviceID,
      model: device.ModelNumber,
      firmware: device.FirmwareVersion,
      name: device.FriendlyName,
    },
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
