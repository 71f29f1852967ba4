import type { Socket } from 'node:net';
import { bytes, type Call, defineEndpoint } from '#kernel/endpoint.ts';
import type { Principal } from '#kernel/principal.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { opening, reset } from './blocks.ts';
import { EventsQuery, type ResetReason } from './events.schemas.ts';
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
    const from = lastSeen(call, query.lastEventId);
    const hold = (socket: Socket): void => {
      const stream = new EventStream(socket, { reader, types, slot: `${source}:${who.deviceId ?? ''}` });
      open(streams, stream, { from, who });
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

function startOf({ feed, positions }: EventStreams, from: string | undefined): Start {
  if (from === undefined) return { after: feed.head };
  const number = positions.read(from) ?? feed.numberOf(from);
  if (number === undefined || number > feed.head) return { after: feed.head, reset: 'unknown' };
  return number < feed.tail - 1 ? { after: number, reset: 'too-old' } : { after: number };
}

interface Opening {
  /** The last event or position that the client saw. */
  from: string | undefined;
  who: Principal;
}

function open(streams: EventStreams, stream: EventStream, { from, who }: Opening): void {
  const start = startOf(streams, from);
  const position = streams.positions.write(start.after);
  stream.write(opening(position));
  if (start.reset) stream.write(reset(position, { reason: start.reset, missed: true }));
  streams.add(stream);
  streams.replay(stream, start.after, who).catch(() => stream.cut()); // the client comes back with its last id
}
