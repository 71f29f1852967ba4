import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { SourceFault } from '../fault.ts';

const TRIES = 20;
/** Bytes that the kernel keeps while this process is busy. */
const KEPT = 2 << 20;

/** Two sockets on an even port and the next one: the packets, and the reports about them, which are not used. */
export interface PortPair {
  port: number;
  packets: Socket;
  close(): void;
}

/** Opens a pair at an address of this machine. Throws `SourceFault` when no pair is free. */
export async function openPorts(address: string): Promise<PortPair> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const first = await bound(address, 0);
    const port = first?.address().port ?? 0;
    // An odd port is the second one of a pair, when the one below it is free.
    const second = first && (await bound(address, port ^ 1));
    if (first && second) return pairOf(first, second);
    first?.close();
  }
  throw new SourceFault('unreachable', 'no pair of ports is free');
}

function pairOf(first: Socket, second: Socket): PortPair {
  const [packets, reports] = first.address().port % 2 === 0 ? [first, second] : [second, first];
  return {
    port: packets.address().port,
    packets,
    close() {
      packets.close();
      reports.close();
    },
  };
}

function bound(address: string, port: number): Promise<Socket | undefined> {
  const socket = createSocket({ type: isIP(address) === 6 ? 'udp6' : 'udp4', recvBufferSize: KEPT });
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners('error').on('error', () => undefined); // silence shows it
      resolve(socket);
    });
  });
}
