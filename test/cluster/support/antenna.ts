// A device of two channels in a pod: the streams in /antenna, sent from the first request on to all who tune in. It runs
// in a pod without these sources, so it imports none.
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';

const PACKET = 188;
const BYTES_A_MS = Number(process.env.BYTES_A_MS);
const streams = new Map(['1', '2'].map((number) => [number, readFileSync(`/antenna/${number}.ts`)]));
const open = new Set<ServerResponse>();
let beganAt = 0;

function send(bytes: Buffer, response: ServerResponse): void {
  beganAt ||= performance.now();
  const due = (): number => Math.floor(((performance.now() - beganAt) * BYTES_A_MS) / PACKET) * PACKET;
  let sent = due();
  open.add(response);
  response.writeHead(200, { 'content-type': 'video/mpeg' });
  const timer = setInterval(() => {
    const until = Math.min(due(), bytes.length);
    if (until > sent) response.write(bytes.subarray(sent, until));
    sent = Math.max(sent, until);
  }, 40);
  response.once('close', () => {
    clearInterval(timer);
    open.delete(response);
  });
}

createServer((request, response) => {
  const { host } = request.headers;
  const [, channel = ''] = /^\/auto\/v(\d+)$/.exec(request.url ?? '') ?? [];
  const stream = streams.get(channel);
  const device = { FriendlyName: 'Roof', ModelNumber: 'HDFX-2US', DeviceID: '10AA5474', TunerCount: 2 };
  if (request.url === '/discover.json') response.end(JSON.stringify({ ...device, BaseURL: `http://${host}` }));
  else if (request.url === '/lineup.json') {
    const entry = (n: string): object => ({
      GuideNumber: n,
      GuideName: `Channel ${n}`,
      URL: `http://${host}/auto/v${n}`,
    });
    response.end(JSON.stringify([...streams.keys()].map(entry)));
  } else if (request.url === '/lineup_status.json') response.end('{"ScanInProgress":0,"ScanPossible":1}');
  else if (!stream) response.writeHead(404).end();
  else if (open.size >= 2) response.writeHead(503, { 'x-hdhomerun-error': '805 All Tuners In Use' }).end();
  else send(stream, response);
}).listen(Number(process.env.PORT));
