import { SourceFault } from '../fault.ts';

const MOST_HEAD = 16 << 10;
const MOST_BODY = 64 << 10;
const HEAD_END = '\r\n\r\n';
const FRAME = 0x24;
const FRAME_HEAD = 4;

/** A response of a server. Names of headers are in lower case; a header may come more than once. */
export interface RtspResponse {
  status: number;
  headers: ReadonlyMap<string, readonly string[]>;
  body: string;
}

/** A packet between the messages, with the number of its channel. */
export interface Frame {
  channel: number;
  packet: Buffer;
}

interface Head extends Omit<RtspResponse, 'body'> {
  bodyBytes: number;
}

/** The value of a header that comes once. */
export const headerOf = ({ headers }: Pick<RtspResponse, 'headers'>, name: string): string | undefined =>
  headers.get(name)?.[0];

/** Splits the bytes of a connection into responses and frames. Throws `SourceFault` for anything else, and for too much. */
export class RtspParser {
  #rest: Buffer = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<RtspResponse | Frame> {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (let item = this.#next(); item; item = this.#next()) yield item;
  }

  #next(): RtspResponse | Frame | undefined {
    this.#skipEmptyLines();
    if (this.#rest.length === 0) return undefined;
    return this.#rest[0] === FRAME ? this.#frame() : this.#response();
  }

  #skipEmptyLines(): void {
    let at = 0;
    while (this.#rest[at] === 0x0d || this.#rest[at] === 0x0a) at += 1;
    this.#rest = this.#rest.subarray(at);
  }

  #frame(): Frame | undefined {
    if (this.#rest.length < FRAME_HEAD) return undefined;
    const end = FRAME_HEAD + this.#rest.readUInt16BE(2);
    if (this.#rest.length < end) return undefined;
    const frame = { channel: this.#rest[1] ?? 0, packet: this.#rest.subarray(FRAME_HEAD, end) };
    this.#rest = this.#rest.subarray(end);
    return frame;
  }

  #response(): RtspResponse | undefined {
    const length = this.#rest.subarray(0, MOST_HEAD).indexOf(HEAD_END);
    if (length < 0) return this.#requireShort();
    const head = headOf(this.#rest.toString('latin1', 0, length));
    const from = length + HEAD_END.length;
    const end = from + head.bodyBytes;
    if (this.#rest.length < end) return undefined;
    const body = this.#rest.toString('utf8', from, end);
    this.#rest = this.#rest.subarray(end);
    return { status: head.status, headers: head.headers, body };
  }

  /** Other bytes than a head are found at once, so that they need not become too many. */
  #requireShort(): undefined {
    if (this.#rest.length >= MOST_HEAD) throw new SourceFault('not-media', 'the head of a message is too long');
    if (!/^[A-Z_]/.test(this.#rest.toString('latin1', 0, 1))) throw new SourceFault('not-media', 'no message of RTSP');
    return undefined;
  }
}

/** A message with status 0 is a request of the server. */
function headOf(text: string): Head {
  const [first = '', ...lines] = text.split(/[\r\n]+/);
  if (!/\bRTSP\/\d\.\d\b/.test(first)) throw new SourceFault('not-media', 'no message of RTSP');
  const headers = headersOf(lines);
  const bodyBytes = Number(headerOf({ headers }, 'content-length') ?? 0);
  if (!Number.isInteger(bodyBytes) || bodyBytes < 0 || bodyBytes > MOST_BODY)
    throw new SourceFault('not-media', 'the body of a message is too long');
  return { status: Number(/^RTSP\/\d\.\d (\d{3})\b/.exec(first)?.[1] ?? 0), headers, bodyBytes };
}

function headersOf(lines: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const values = headers.get(name) ?? [];
    values.push(line.slice(colon + 1).trim());
    headers.set(name, values);
  }
  return headers;
}

export interface RtspRequest {
  method: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
}

/** Text that cannot begin another part of a line, or another line. */
export const SAFE_WORD = /^[\x21-\x7e]+$/;
const SAFE_NAME = /^[\w-]+$/;
const SAFE_VALUE = /^[\x20-\x7e\x80-\xff]*$/;

/** The bytes of a request. Throws `SourceFault` where a part of it would begin another line. */
export function bytesOf({ method, url, headers = {} }: RtspRequest): Buffer {
  if (!SAFE_WORD.test(url)) throw new SourceFault('refused', 'the address has characters that no address has');
  const lines = Object.entries(headers).map(([name, value]) => {
    if (!SAFE_NAME.test(name) || !SAFE_VALUE.test(value)) throw new SourceFault('refused', 'no header of a request');
    return `${name}: ${value}`;
  });
  return Buffer.from([`${method} ${url} RTSP/1.0`, ...lines, '', ''].join('\r\n'), 'latin1');
}
