import { isIPv6 } from 'node:net';
import type { Outbound } from '#platform/outbound.ts';
import type { TunerConfig } from './config.ts';
import { findDevice } from './discovery.ts';
import { type FetchJson, readHdhomerun, tunersInUse } from './hdhomerun.ts';
import type { Channel, Lineup } from './lineup.ts';
import { type PlaylistEntry, readPlaylist } from './m3u.ts';

const PLAYLIST_BYTES = 64 << 20;
const DEVICE_TIMEOUT_MS = 10_000;
const PLAYLIST_TIMEOUT_MS = 60_000;

/** Where channels come from. Each question throws what hindered it. */
export interface Source {
  lineup(): Promise<Lineup>;
  /** Streams that others take at the device; undefined where it does not tell. */
  inUse(): Promise<number | undefined>;
}

export function sourceOf(config: TunerConfig, outbound: Outbound, find: typeof findDevice = findDevice): Source {
  const { hdhomerun, m3u } = config.spec.source;
  if (hdhomerun) return hdhomerunSource(hdhomerun, config, { outbound, find });
  return { lineup: () => playlistLineup(config, outbound, m3u), inUse: async () => undefined };
}

interface Ways {
  outbound: Outbound;
  find: typeof findDevice;
}

function hdhomerunSource(
  { address, deviceId }: { address?: string | undefined; deviceId?: string | undefined },
  config: TunerConfig,
  { outbound, find }: Ways,
): Source {
  const fetchJson: FetchJson = async (url) => {
    const answer = await outbound(url, { allow: config.networks, timeoutMs: DEVICE_TIMEOUT_MS });
    if (answer.status !== 200) throw new Error(`the device answered ${answer.status}`);
    return JSON.parse(answer.body.toString('utf8'));
  };
  const base = async (): Promise<string> => {
    if (address) return `http://${isIPv6(address) ? `[${address}]` : address}`;
    const found = deviceId && (await find({ deviceId }));
    if (!found) throw new Error(`no device ${deviceId} answered the broadcast; a pod hears it only with hostNetwork`);
    return found;
  };
  return {
    lineup: async () => readHdhomerun(await base(), fetchJson),
    inUse: async () => tunersInUse(await base(), fetchJson),
  };
}

type M3u = TunerConfig['spec']['source']['m3u'];

async function playlistLineup({ url, networks }: TunerConfig, outbound: Outbound, m3u: M3u): Promise<Lineup> {
  if (!url) throw new Error('no address of a playlist is given');
  const headers = m3u?.userAgent ? { 'user-agent': m3u.userAgent } : {};
  const limits = { maxBytes: PLAYLIST_BYTES, timeoutMs: PLAYLIST_TIMEOUT_MS };
  const answer = await outbound(url, { allow: networks, headers, ...limits });
  if (answer.status !== 200) throw new Error(`the address of the playlist answered ${answer.status}`);
  const { entries } = readPlaylist(answer.body.toString('utf8'));
  const channels = entries.map(channelOf);
  return { channels, tuners: m3u?.maxStreams ?? 1, encrypted: 0 };
}

const HD = /\b(u?hd|4k|1080[pi]?|720p)\b/i;

const channelOf = (entry: PlaylistEntry, index: number): Channel => ({
  ...entry,
  number: entry.number ?? String(index + 1),
  hd: HD.test(entry.name),
});
