// An HDHomeRun and a provider of playlists on sockets.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packet } from '#workers/tuner/discovery.ts';
import { atEnd } from './stores.ts';

/** Ids that pass the check digit of real devices. */
export const DEVICE = '10AA5474';

export interface LineupEntry {
  GuideNumber: string | number;
  GuideName: string;
  URL?: string;
  HD?: 0 | 1;
  DRM?: 0 | 1;
  Tags?: string;
  AudioCodec?: string;
  VideoCodec?: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function listening(answer: Answer): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A device that answers discover.json, lineup.json, lineup_status.json, lineup.post and its streams. */
export class HdHomeRun {
  url = '';
  discover: Record<string, unknown> | undefined = {
    ...{ FriendlyName: 'HDHomeRun FLEX', ModelNumber: 'HDFX-4K', FirmwareVersion: '20250815', DeviceID: DEVICE },
    TunerCount: 2,
  };
  lineup: LineupEntry[] = [];
  /** Added to the lineup by a search of the frequencies. */
  hidden: LineupEntry[] = [];
  /** Answers of streams by their path. */
  stream: Answer = (_request, response) => response.writeHead(503).end();
  readonly requests: string[] = [];
  #scanning = 0;

  static async start(lineup: LineupEntry[]): Promise<HdHomeRun> {
    const device = new HdHomeRun();
    device.lineup = lineup;
    device.url = `http://127.0.0.1:${await listening((request, response) => device.#answer(request, response))}`;
    return device;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', this.url);
    this.requests.push(`${request.method} ${request.url}`);
    const json = (body: unknown): void => void response.end(JSON.stringify(body));
    if (pathname === '/discover.json' && this.discover) json({ ...this.discover, BaseURL: this.url });
    else if (pathname === '/lineup.json')
      json(this.lineup.map((one) => ({ URL: `${this.url}/auto/v${one.GuideNumber}`, ...one })));
    else if (pathname === '/lineup_status.json') json(this.#status());
    else if (pathname === '/lineup.post' && request.method === 'POST') {
      this.#scanning = 2;
      response.end();
    } else if (pathname.startsWith('/auto/')) this.stream(request, response);
    else response.writeHead(404).end();
  }

  #status(): object {
    if (this.#scanning === 0) return { ScanInProgress: 0, ScanPossible: 1 };
    this.#scanning -= 1;
    if (this.#scanning === 0) this.lineup = [...this.lineup, ...this.hidden.splice(0)];
    return { ScanInProgress: this.#scanning > 0 ? 1 : 0, Progress: 50, Found: this.lineup.length };
  }

  /** Answers broadcasts as this device; returns the port. */
  async hear(port = 0): Promise<number> {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    atEnd(() => socket.close());
    socket.on('message', (_bytes, from) => {
      const id = Buffer.concat([Buffer.from([0x02, 4]), Buffer.from(DEVICE, 'hex')]);
      const url = Buffer.from(this.url);
      const body = Buffer.concat([Buffer.from([0x01, 4, 0, 0, 0, 1]), id, Buffer.from([0x2a, url.length]), url]);
      socket.send(packet(3, body), from.port, from.address);
    });
    return socket.address().port;
  }
}

/** A provider of a playlist and of streams. */
export class Provider {
  url = '';
  text = '#EXTM3U\n';
  stream: Answer = (_request, response) => response.writeHead(404).end();
  readonly seen: IncomingMessage['headers'][] = [];

  static async start(text: string): Promise<Provider> {
    const provider = new Provider();
    provider.text = text;
    const port = await listening((request, response) => {
      provider.seen.push(request.headers);
      if (request.url?.startsWith('/get.php')) response.end(provider.text);
      else provider.stream(request, response);
    });
    provider.url = `http://127.0.0.1:${port}`;
    return provider;
  }
}

/** A playlist of channels: name, tvg-id, group and address. */
export const playlist = (
  entries: { name: string; id?: string; group?: string; number?: number; url: string }[],
): string =>
  [
    '#EXTM3U url-tvg="http://guide.example/g.xml"',
    ...entries.flatMap(({ name, id, group, number, url }) => [
      `#EXTINF:-1${id ? ` tvg-id="${id}"` : ''}${number ? ` tvg-chno="${number}"` : ''}${group ? ` group-title="${group}"` : ''},${name}`,
      url,
    ]),
  ].join('\n');
