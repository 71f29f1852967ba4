import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventName, EventPayloads } from './areas/events.ts';
import { FoyerError } from './failure.ts';
import type { Transport } from './transport.ts';

/** An event as it is sent. */
export type FoyerEvent = {
  [N in EventName]: { id: string; event: N; at: string; payload: EventPayloads[N] };
}[EventName];

/** The client must load its lists again: earlier events were missed. */
export interface Reset {
  id: string;
  event: 'stream.reset';
  at: string;
  payload: { reason: 'too-old' | 'unknown' | 'restored' | 'access'; missed: boolean };
}

export interface EventsOptions {
  /** Only these; all when absent. */
  types?: readonly EventName[];
  /** The `id` of the last event that was handled; the stream continues after it. */
  lastEventId?: string;
  signal?: AbortSignal;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** Events from now or after `lastEventId`, across lost connections. Ends with `signal`; throws when a retry would be refused too. */
export async function* follow(
  transport: Transport,
  options: EventsOptions,
): AsyncGenerator<FoyerEvent | Reset, void, void> {
  const place: Place = { id: options.lastEventId, waitMs: FIRST_WAIT_MS, failures: 0 };
  while (!options.signal?.aborted) {
    try {
      yield* once(transport, options, place);
    } catch (error) {
      if (options.signal?.aborted) return;
      place.failures += 1;
      place.waitMs = waitAfter(error) ?? place.waitMs;
    }
    await rest(Math.min(place.waitMs * 2 ** Math.max(0, place.failures - 1), LONGEST_WAIT_MS), options.signal);
  }
}

/** The milliseconds of Retry-After. Throws a refusal that a retry would get again. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof FoyerError)) return undefined;
  if (error.status < 500 && error.status !== 429) throw error;
  return error.retryAfterSec === undefined ? undefined : error.retryAfterSec * 1000;
}

interface Place {
  id: string | undefined;
  /** From the server, otherwise a second. */
  waitMs: number;
  /** Failed connections since the last successful one. */
  failures: number;
}

async function* once(
  transport: Transport,
  options: EventsOptions,
  place: Place,
): AsyncGenerator<FoyerEvent | Reset, void, void> {
  const { types, signal } = options;
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

/** A block with only an `id` moves the place too; the parser skips blocks without data. */
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
