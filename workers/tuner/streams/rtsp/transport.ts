import { payloadOf } from '../datagrams.ts';
import { SourceFault } from '../fault.ts';
import type { PacketQueue } from '../packets.ts';
import type { RtspConnection } from './connection.ts';
import { headerOf, type RtspResponse } from './messages.ts';
import { RtpOrder } from './order.ts';
import { openPorts, type PortPair } from './ports.ts';

/** Above it the connection is not read, so that the server waits. */
const FULL_BYTES = 1 << 20;

/** A way on which the packets of a session come. */
export interface Transport {
  /** The header of the request that sets it up. */
  header: string;
  /** Takes packets as the server's response says; false when it says another way. */
  hear(response: RtspResponse): boolean;
  close(): void;
}

export type Way = (connection: RtspConnection, packets: PacketQueue) => Promise<Transport>;

/** First inside the connection, which any network lets through, then by UDP, which is the only way of many SAT>IP servers. */
export const WAYS: readonly Way[] = [inConnection, byDatagrams];

const transportOf = (response: RtspResponse): string => headerOf(response, 'transport') ?? '';

async function inConnection(connection: RtspConnection, packets: PacketQueue): Promise<Transport> {
  return {
    header: 'RTP/AVP/TCP;unicast;interleaved=0-1',
    hear(response) {
      const given = transportOf(response);
      if (!/^RTP\/AVP\/TCP/i.test(given)) return false;
      const channel = Number(/;interleaved=(\d+)/i.exec(given)?.[1] ?? 0);
      connection.onFrame = (frame) => {
        const bytes = frame.channel === channel ? payloadOf(frame.packet) : undefined;
        if (bytes) packets.push(Buffer.from(bytes)); // without the rest of its chunk
        if (packets.bytes > FULL_BYTES) connection.pause();
      };
      return true;
    },
    close: () => undefined,
  };
}

async function byDatagrams(connection: RtspConnection, packets: PacketQueue): Promise<Transport> {
  const ports: PortPair = await openPorts(connection.local);
  const order = new RtpOrder();
  return {
    header: `RTP/AVP;unicast;client_port=${ports.port}-${ports.port + 1}`,
    hear(response) {
      if (/multicast|\/TCP/i.test(transportOf(response))) return false;
      // Another machine could send into the stream.
      ports.packets.on('message', (packet, { address }) => {
        if (address !== connection.remote) return;
        for (const one of order.push(packet)) pushPayload(packets, one);
      });
      return true;
    },
    close: () => ports.close(),
  };
}

function pushPayload(packets: PacketQueue, packet: Buffer): void {
  const bytes = payloadOf(packet);
  if (bytes) packets.push(bytes);
}

export const noTransport = (): SourceFault =>
  new SourceFault('refused', 'the server sends neither inside its connection nor by UDP');
