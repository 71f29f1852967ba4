// Looks for HDHomeRuns: at addresses, and by broadcast where this process stands in the home network.
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { OutboundRefused } from '#platform/outbound.ts';
import { DISCOVERY_PORT, question, readReply } from '../tuner/discovery.ts';
import { readDevice } from '../tuner/hdhomerun.ts';
import { baseOf, fetchJsonOf, type Reach } from './lineup.ts';

const ANY_DEVICE = 'FFFFFFFF';
const AT_ONCE = 64;
const MOST_FOUND = 200;

export interface FoundTuner {
  kind: 'hdhomerun';
  url: string;
  deviceId: string;
  model: string;
  slotCount: number;
  name: string;
}

export interface Broadcast {
  address: string;
  port: number;
}

/** Every device of the network. */
export const EVERYWHERE: Broadcast = { address: '255.255.255.255', port: DISCOVERY_PORT };

interface Search {
  addresses: readonly string[];
  timeoutMs: number;
  /** Undefined where a broadcast reaches no home network. */
  broadcast: Broadcast | undefined;
}

/** Devices that answered, each once, and the addresses that are closed. */
export async function discoverDevices(
  { addresses, timeoutMs, broadcast }: Search,
  reach: Reach,
): Promise<{ items: FoundTuner[]; broadcast: boolean; refused: string[] }> {
  const heard = broadcast ? await heardFrom(broadcast, timeoutMs) : [];
  const bases = new Set([...heard, ...addresses.flatMap(expanded).map((host) => `http://${host}`)]);
  const found = new Map<string, FoundTuner>();
  const refused: string[] = [];
  const waiting = [...bases];
  const one = async (): Promise<void> => {
    for (let base = waiting.shift(); base !== undefined; base = waiting.shift()) {
      const device = await look(base, reach, timeoutMs);
      if (device === 'refused') refused.push(base.slice('http://'.length));
      else if (device && found.size < MOST_FOUND) found.set(device.deviceId || device.url, device);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return { items: [...found.values()], broadcast: broadcast !== undefined, refused };
}

async function look(base: string, reach: Reach, timeoutMs: number): Promise<FoundTuner | 'refused' | undefined> {
  try {
    const { device, tuners } = await readDevice(baseOf(base), fetchJsonOf({ kind: 'hdhomerun' }, reach, timeoutMs));
    const { id = '', model = '', name = '' } = device ?? {};
    return {
      ...{ kind: 'hdhomerun', url: baseOf(base), deviceId: id.toUpperCase(), model, slotCount: tuners || 1 },
      name: name || model || new URL(base).host,
    };
  } catch (error) {
    return isRefusal(error) ? 'refused' : undefined;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof OutboundRefused && error.reason !== 'time' && error.reason !== 'size';

/** The addresses of a CIDR of at most 256; anything else is a host. */
export function expanded(text: string): string[] {
  const [network = '', bits] = text.split('/');
  if (bits === undefined) return [network.includes(':') && !/^\[|^[^:]+:\d+$/.test(network) ? `[${network}]` : network];
  if (!isIPv4(network)) return [network];
  const size = 2 ** (32 - Number(bits));
  const whole = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const start = whole - (whole % size);
  return Array.from({ length: size }, (_, i) => dotted(start + i));
}

const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** Addresses of the devices that answer a broadcast. */
async function heardFrom({ address, port }: Broadcast, timeoutMs: number): Promise<string[]> {
  const socket = createSocket('udp4');
  const found = new Set<string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(timeoutMs, 2000));
  socket.on('error', () => resolve());
  socket.on('message', (bytes, from) => {
    const reply = readReply(bytes);
    if (reply && found.size < MOST_FOUND) found.add(`http://${hostOf(reply.baseUrl) ?? from.address}`);
  });
  socket.bind(0, () => {
    socket.setBroadcast(true);
    socket.send(question(ANY_DEVICE), port, address, (error) => error && resolve());
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
  return [...found];
}

const hostOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) && /^http:/i.test(url) ? new URL(url).host : undefined;
