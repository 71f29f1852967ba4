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
  summary: 'Follow events as they happen',
  description: 'Server-sent events; resumes from `Last-Event-ID`. The data of each is an EventEnvelope.',
  access: { signedIn: true },
  query: EventsQuery,
  answer: bytes('text/event-stream'),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    call.reply.header('Cache-Control', 'no-store');
    call.reply.header('X-Accel-Buffering', 'no');
    if (call.method === 'HEAD') return { body: null, type: TYPE };
    const { who, deps } = call;
    const source = who.sessionId ?? who.keyId ?? '';
    await limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, `events:${source}`, OPENINGS_A_MINUTE);
    const streams = await eventStreams(deps);
    streams.admit(who.accountId, `${source}:${who.deviceId ?? ''}`);
    const reader = await streams.readerFor(who);
    const types = query.types && new Set(query.types);
    const start = await startOf(streams, lastSeen(call, query.lastEventId), call);
    const hold = (socket: Socket): void => {
      const stream = new EventStream(socket, { reader, types, slot: `${source}:${who.deviceId ?? ''}` });
      open(streams, stream, { start, who });
    };
    return { body: null, type: TYPE, hold };
  },
});

/** A browser that reconnects repeats the old address: the header wins. */
const lastSeen = ({ headers }: Call, asked: string | undefined): string | undefined => {
  const header = headers['last-event-id'];
  return (typeof header === 'string' && header ? header : asked)?.slice(0, 200);
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
  const seen = positions.read(from) ?? feed.find(from);
  if (!seen || seen.place > feed.head) return { after: feed.head, reset: 'unknown' };
  const { place: after, atMs } = seen;
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
  streams.replay(stream, start.after, who).catch(() => stream.cut()); // the client comes back with its last id
}
