import { isIPv6 } from 'node:net';
import type { Outbound } from '#platform/outbound.ts';
import type { TunerConfig } from './config.ts';
import { findDevice } from './discovery.ts';
import { type FetchJson, NoPage, readHdhomerun, tunersInUse } from './hdhomerun.ts';
import type { Channel, Lineup } from './lineup.ts';
import { type PlaylistEntry, readPlaylist } from './m3u.ts';

const PLAYLIST_BYTES = 64 << 20;
const PROBE_BYTES = 1024;
const DEVICE_TIMEOUT_MS = 10_000;
const PLAYLIST_TIMEOUT_MS = 60_000;

/** A source of channels. Each method throws the error of the request. */
export interface Source {
  lineup(): Promise<Lineup>;
  /** Streams in use at the device; undefined if it does not report them. Throws if it does not respond. */
  inUse(): Promise<number | undefined>;
}

export function sourceOf(config: TunerConfig, outbound: Outbound, find: typeof findDevice = findDevice): Source {
  const { hdhomerun, m3u } = config.spec.source;
  if (hdhomerun) return hdhomerunSource(hdhomerun, config, { outbound, find });
  return playlistSource(config, outbound, m3u);
}

/** Networks in which the source may be. */
const open = ({ home, networks }: TunerConfig) => ({ allow: home, always: networks });

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
    const answer = await outbound(url, { ...open(config), timeoutMs: DEVICE_TIMEOUT_MS });
    if (answer.status !== 200) throw new NoPage(`the device answered ${answer.status}`);
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

function playlistSource(config: TunerConfig, outbound: Outbound, m3u: M3u): Source {
  let readAt = Number.NEGATIVE_INFINITY;
  const text = async (limits: { maxBytes: number; cut?: boolean }): Promise<string> => {
    readAt = performance.now();
    if (!config.url) throw new Error('no address of a playlist is given');
    const { url, headers } = withoutCredential(config.url);
    const agent = m3u?.userAgent ? { 'user-agent': m3u.userAgent } : {};
    const sent = { ...open(config), ...limits, headers: { ...headers, ...agent }, timeoutMs: PLAYLIST_TIMEOUT_MS };
    const answer = await outbound(url, sent);
    if (answer.status !== 200) throw new Error(`the address of the playlist answered ${answer.status}`);
    return answer.body.toString('utf8');
  };
  return {
    async lineup() {
      const { entries } = readPlaylist(await text({ maxBytes: PLAYLIST_BYTES }));
      return { channels: entries.map(channelOf), tuners: m3u?.maxStreams ?? 1, encrypted: 0 };
    },
    async inUse() {
      // It is available if it begins like a playlist; the whole text is read much less often.
      if (performance.now() - readAt >= config.probeMs) readPlaylist(await text({ maxBytes: PROBE_BYTES, cut: true }));
      return undefined;
    },
  };
}

/** Sends a name and password before the host as credentials. */
export function withoutCredential(address: string): { url: string; headers: Record<string, string> } {
  const { url, credential } = credentialOf(address);
  if (!credential) return { url, headers: {} };
  const plain = `${credential.username}:${credential.password}`;
  return { url, headers: { authorization: `Basic ${Buffer.from(plain).toString('base64')}` } };
}

export interface Credential {
  username: string;
  password: string;
}

/** An address, and the name and password before its host. */
export function credentialOf(address: string): { url: string; credential?: Credential } {
  const url = new URL(address);
  const { username, password } = url;
  if (!username && !password) return { url: address };
  url.username = '';
  url.password = '';
  return { url: url.href, credential: { username: plainOf(username), password: plainOf(password) } };
}

function plainOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const HD = /\b(u?hd|4k|1080[pi]?|720p)\b/i;

const channelOf = (entry: PlaylistEntry, index: number): Channel => ({
  ...entry,
  number: entry.number ?? String(index + 1),
  hd: HD.test(entry.name),
});
