// Finds an HDHomeRun by its device id: one UDP request to the broadcast address of each network (libhdhomerun's
// protocol).

import { createSocket } from 'node:dgram';
import { crc32 } from 'node:zlib';
import { withoutTail } from '#platform/text.ts';

export const DISCOVERY_PORT = 65_001;
const REQUEST = 2;
const REPLY = 3;
const TAG_TYPE = 0x01;
const TAG_ID = 0x02;
const TAG_BASE_URL = 0x2a;
const TUNER = 1;

function tagged(tag: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes[0] = tag;
  bytes[1] = 4;
  bytes.writeUInt32BE(value >>> 0, 2);
  return bytes;
}

/** Type and length, the body, and its CRC-32 little-endian. */
export function packet(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(body.length, 2);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(Buffer.concat([head, body])), 0);
  return Buffer.concat([head, body, sum]);
}

export const question = (deviceId: string): Buffer =>
  packet(REQUEST, Buffer.concat([tagged(TAG_TYPE, TUNER), tagged(TAG_ID, Number.parseInt(deviceId, 16))]));

export interface Found {
  deviceId: string;
  baseUrl?: string;
}

/** Undefined for anything but a complete reply. */
export function readReply(bytes: Buffer): Found | undefined {
  if (bytes.length < 8 || bytes.readUInt16BE(0) !== REPLY || bytes.readUInt16BE(2) !== bytes.length - 8)
    return undefined;
  if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32LE(bytes.length - 4)) return undefined;
  const tags = tagsOf(bytes.subarray(4, -4));
  const id = tags.get(TAG_ID);
  if (id?.length !== 4) return undefined;
  const baseUrl = tags.get(TAG_BASE_URL)?.toString('utf8');
  return { deviceId: id.toString('hex').toUpperCase(), ...(baseUrl && { baseUrl: withoutTail(baseUrl, '\0') }) };
}

/** Lengths of one byte, or of two if the first has its high bit set. */
function tagsOf(body: Buffer): Map<number, Buffer> {
  const tags = new Map<number, Buffer>();
  let at = 0;
  while (at + 2 <= body.length) {
    const first = body[at + 1] ?? 0;
    const long = first >= 0x80;
    const length = long ? (first & 0x7f) | ((body[at + 2] ?? 0) << 7) : first;
    const start = at + (long ? 3 : 2);
    tags.set(body[at] ?? 0, body.subarray(start, start + length));
    at = start + length;
  }
  return tags;
}

export interface DiscoveryRequest {
  deviceId: string;
  /** Where to send the request; the broadcast address reaches every device of the network. */
  address?: string;
  port?: number;
  timeoutMs?: number;
}

/** `http://address` of the device, or undefined without a reply. */
export async function findDevice(request: DiscoveryRequest): Promise<string | undefined> {
  const { deviceId, address = '255.255.255.255', port = DISCOVERY_PORT, timeoutMs = 2000 } = request;
  const socket = createSocket('udp4');
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  socket.on('error', () => resolve(undefined));
  socket.on('message', (bytes, from) => {
    const found = readReply(bytes);
    if (found?.deviceId === deviceId.toUpperCase()) resolve(found.baseUrl ?? `http://${from.address}`);
  });
  socket.bind(0, () => {
    socket.setBroadcast(true);
    socket.send(question(deviceId), port, address, (error) => error && resolve(undefined));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
