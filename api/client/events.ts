import { EventSourceParserStream } from 'eventsource-parser/stream';
import { FoyerError } from './failure.ts';
import type { EventName, EventPayloads } from './records/events.ts';
import type { Transport } from './transport.ts';

/** An event as it is sent. */
export type FoyerEvent = {
  [N in EventName]: { id: string; event: N; at: string; payload: EventPayloads[N] };
}[EventName];

/** On it a client reads its lists again: what came before is not known. */
export interface Reset {
  id: string;
  event: 'stream.reset';
  at: string;
  payload: { reason: 'too-old' | 'unknown' | 'restored' | 'access'; missed: boolean };
}

export interface EventsAsk {
  /** Only these; all when absent. */
  types?: readonly EventName[];
  /** Where to go on: the `id` of the last event that was handled. */
  lastEventId?: string;
  signal?: AbortSignal;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** Events from now (or from `lastEventId`) on, across lost connections; ends with `signal`, throws when the server will not take this client again. */
export async function* follow(transport: Transport, ask: EventsAsk): AsyncGenerator<FoyerEvent | Reset, void, void> {
  const place: Place = { id: ask.lastEventId, waitMs: FIRST_WAIT_MS, failures: 0 };
  while (!ask.signal?.aborted) {
    try {
      yield* once(transport, ask, place);
    } catch (error) {
      if (ask.signal?.aborted) return;
      place.failures += 1;
      place.waitMs = waitAfter(error) ?? place.waitMs;
    }
    await rest(Math.min(place.waitMs * 2 ** Math.max(0, place.failures - 1), LONGEST_WAIT_MS), ask.signal);
  }
}

/** Milliseconds that the server asked for. Throws the refusal that another try would meet again. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof FoyerError)) return undefined;
  if (error.status < 500 && error.status !== 429) throw error;
  return error.retryAfterSec === undefined ? undefined : error.retryAfterSec * 1000;
}

interface Place {
  id: string | undefined;
  /** As the server asked for, or a second. */
  waitMs: number;
  /** Openings that failed since the last that did not. */
  failures: number;
}

async function* once(
  transport: Transport,
  ask: EventsAsk,
  place: Place,
): AsyncGenerator<FoyerEvent | Reset, void, void> {
  const { types, signal } = ask;
  const response = await transport.send('streamEvents', {
    query: { types: types?.join(',') },
    headers: { accept: 'text/event-stream', ...(place.id && { 'last-event-id': place.id }) },
    signal,
  });
  if (!response.body) return;
  place.failures = 0;
  const parser = new EventSourceParserStream({
    onRetry: (ms) => {
      place.waitMs = ms;
    },
  });
  const blocks = watched(response.body, place).pipeThrough(new TextDecoderStream()).pipeThrough(parser);
  const reader = blocks.getReader(); // not every browser iterates a stream
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!value.data) continue;
      yield JSON.parse(value.data) as FoyerEvent | Reset;
      if (value.id) place.id = value.id; // handled: the loop came back for the next
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Blocks of an `id` alone move the place too; the parser tells of none without data. */
function watched(body: ReadableStream<Uint8Array>, place: Place): ReadableStream<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  let rest = '';
  const look = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      const last = blocks.at(-1);
      const bare = last !== undefined && !/^data:/m.test(last) ? /^id: ?(\S+)/m.exec(last)?.[1] : undefined;
      controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
      if (bare && blocks.every((block) => !/^data:/m.test(block))) place.id = bare;
    },
  });
  return body.pipeThrough(look);
}

function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}
