import type { Socket } from 'node:net';
import type { Principal } from '#identity/principal.ts';
import { bytes, type Call, defineEndpoint } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { opening, reset } from './blocks.ts';
import { EventsQuery, type ResetReason } from './events.schemas.ts';
import { rightsChanged } from './rights.ts';
import { EventStream } from './stream.ts';
import { type EventStreams, eventStreams } from './streams.ts';

const OPENINGS_A_MINUTE = 20;
const TYPE = 'text/event-stream; charset=utf-8';

export const streamEvents = defineEndpoint({
  operationId: 'streamEvents',
  method: 'get',
  path: '/events',
  summary: 'Stream events as they happen',
  description:
    'Server-sent events; the data of each is an EventEnvelope. It resumes from `Last-Event-ID` or `lastEventId`. When events were missed or rights changed, the stream starts with `stream.reset`, and the client loads its data again. The caller gets only events about what they may see. The stream ends with the session or the key.',
  access: { signedIn: true },
  query: EventsQuery,
  answer: bytes('text/event-stream'),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    call.reply.header('Cache-Control', 'no-store');
    call.reply.header('X-Accel-Buffering', 'no');
    if (call.method === 'HEAD') return { body: null, type: TYPE };
    return { body: null, type: TYPE, hold: await opener(call, query) };
  },
});

/** Admits the stream; the result opens it on the socket of the response. */
async function opener(call: Call, query: EventsQuery): Promise<(socket: Socket) => void> {
  const { who, deps } = call;
  const source = who.sessionId ?? who.keyId ?? '';
  await limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, `events:${source}`, OPENINGS_A_MINUTE);
  const slot = `${source}:${who.deviceId ?? ''}`;
  const streams = await eventStreams(deps);
  streams.admit(who.accountId, slot);
  const reader = await streams.readerFor(who);
  const types = query.types && new Set(query.types);
  const start = await startOf(streams, lastEventId(call, query.lastEventId), call);
  return (socket) => open(streams, new EventStream(socket, { reader, types, slot }), { start, who });
}

/** A browser that reconnects repeats the old address: the header takes precedence. */
const lastEventId = ({ headers }: Call, queried: string | undefined): string | undefined => {
  const header = headers['last-event-id'];
  return (typeof header === 'string' && header ? header : queried)?.slice(0, 200);
};

interface Start {
  after: number;
  reset?: ResetReason;
}

async function startOf(
  { feed, positions }: EventStreams,
  from: string | undefined,
  { deps, who }: Call,
): Promise<Start> {
  if (from === undefined) return { after: feed.head };
  const known = positions.read(from) ?? feed.find(from);
  if (!known || known.place > feed.head) return { after: feed.head, reset: 'unknown' };
  const { place: after, atMs } = known;
  if (after < feed.tail - 1) return { after, reset: 'too-old' };
  return (await rightsChanged(deps.db, who.accountId, atMs)) ? { after, reset: 'access' } : { after };
}

interface Opening {
  start: Start;
  who: Principal;
}

function open(streams: EventStreams, stream: EventStream, { start, who }: Opening): void {
  const position = streams.positions.write(start.after);
  stream.write(opening(position));
  if (start.reset) stream.write(reset(position, { reason: start.reset, missed: start.reset !== 'access' }));
  streams.add(stream);
  streams.replay(stream, start.after, who).catch(() => stream.cut()); // the client reconnects with its last id
}
