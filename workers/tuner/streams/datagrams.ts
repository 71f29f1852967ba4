import { createSocket, type Socket } from 'node:dgram';
import { BlockList, isIP } from 'node:net';
import { SourceFault } from './fault.ts';
import type { Rests } from './pace.ts';
import { PacketQueue } from './packets.ts';

/** Groups of the local network; everything else is no place to listen. */
const GROUPS = new BlockList();
GROUPS.addSubnet('239.0.0.0', 8, 'ipv4');
GROUPS.addSubnet('232.0.0.0', 8, 'ipv4');
GROUPS.addSubnet('ff05::', 16, 'ipv6');
GROUPS.addSubnet('ff08::', 16, 'ipv6');

const RTP_HEAD = 12;

interface Group {
  address: string;
  port: number;
  /** The only sender that is heard. */
  sender: string | undefined;
}

/** The multicast group of `udp://@239.1.2.3:5000`, or with a sender before the `@`. Throws for any other address. */
export function groupOf(url: URL): Group {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  const port = Number(url.port);
  if (!family || !port || !GROUPS.check(address, family === 6 ? 'ipv6' : 'ipv4')) {
    throw new SourceFault('refused', 'only multicast groups of the local network are heard');
  }
  const sender = decodeURIComponent(url.username);
  if (sender && !isIP(sender)) throw new SourceFault('refused', 'the sender is no address');
  return { address, port, sender: sender || undefined };
}

/** The payload of an RTP packet; undefined for anything else. */
export function payloadOf(packet: Buffer): Buffer | undefined {
  const first = packet[0] ?? 0;
  if (packet.length < RTP_HEAD || first >> 6 !== 2) return undefined;
  let from = RTP_HEAD + 4 * (first & 0x0f);
  if (first & 0x10) {
    if (packet.length < from + 4) return undefined;
    from += 4 + 4 * packet.readUInt16BE(from + 2);
  }
  const padding = first & 0x20 ? (packet.at(-1) ?? 0) : 0;
  return from + padding < packet.length ? packet.subarray(from, packet.length - padding) : undefined;
}

/** Hears a multicast group of transport packets, plain or in RTP, until aborted. */
export async function* readDatagrams(url: URL, signal: AbortSignal, rests?: Rests): AsyncGenerator<Buffer> {
  const group = groupOf(url);
  const isRtp = url.protocol === 'rtp:';
  const packets = new PacketQueue();
  const socket = createSocket({ type: isIP(group.address) === 6 ? 'udp6' : 'udp4', reuseAddr: true });
  socket.on('error', (error) => packets.end(error));
  socket.on('message', (packet) => {
    const bytes = isRtp ? payloadOf(packet) : packet;
    if (bytes) packets.push(bytes);
  });
  signal.addEventListener('abort', () => packets.end(new SourceFault('ended', 'stopped')), { once: true });
  try {
    await join(socket, group);
    yield* packets.read(rests);
  } finally {
    socket.close();
  }
}

async function join(socket: Socket, { address, port, sender }: Group): Promise<void> {
  const bound = Promise.withResolvers<void>();
  socket.once('error', bound.reject);
  socket.bind(port, address, bound.resolve);
  try {
    await bound.promise;
    if (sender) socket.addSourceSpecificMembership(sender, address);
    else socket.addMembership(address);
  } catch (error) {
    throw new SourceFault('unreachable', (error as Error).message);
  }
}
