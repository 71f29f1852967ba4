import { addresses } from './addresses/index.ts';
import { type EventsAsk, type FoyerEvent, follow, type Reset } from './events.ts';
import type { Operations } from './operations/index.ts';
import { type Asked, addressOf, type ClientOptions, Transport } from './transport.ts';

type Name = keyof Operations;
type Member<N extends Name, P extends 'params' | 'query' | 'body'> = P extends keyof Operations[N]
  ? Pick<Operations[N], P>
  : { [K in P]?: undefined };

/** What an operation is asked: parts that it does not know cannot be given. */
export type Ask<N extends Name> = Member<N, 'params'> &
  Member<N, 'query'> &
  Member<N, 'body'> & {
    /** Such as If-Match or Idempotency-Key. */
    headers?: Record<string, string>;
    signal?: AbortSignal;
  };
export type Answer<N extends Name> = Operations[N]['answer'];

/** May be left out where nothing is needed. */
type Args<N extends Name> = object extends Ask<N> ? [ask?: Ask<N>] : [ask: Ask<N>];

type Methods = { [N in Name]: (...args: Args<N>) => Promise<Answer<N>> };

/** Operations that answer pages. */
export type Listing = { [N in Name]: Answer<N> extends { items: unknown[]; page: unknown } ? N : never }[Name];
type ItemOf<N extends Listing> = Answer<N> extends { items: (infer I)[] } ? I : never;

/** Every operation by its operationId, and what goes beyond one request. */
export type FoyerClient = Methods & {
  /** Every entry of a list, page by page as they are wanted. */
  each<N extends Listing>(name: N, ...args: Args<N>): AsyncGenerator<ItemOf<N>, void, void>;
  /** Server-sent events across lost connections, each once. */
  events(ask?: EventsAsk): AsyncGenerator<FoyerEvent | Reset, void, void>;
  /** The address of an operation, for players and pictures; it holds no credential. */
  address<N extends Name>(name: N, ...args: Args<N>): string;
};

/** A client of one server. Methods throw FoyerError for what the server refuses. */
export function createClient(options: ClientOptions): FoyerClient {
  const transport = new Transport(options);
  const own = {
    each: (name: Name, ask: Asked = {}) => eachOf(transport, name, ask),
    events: (ask: EventsAsk = {}) => follow(transport, ask),
    address: (name: Name, ask: Asked = {}) => addressOf(options.server, name, ask),
  };
  const names = Object.keys(addresses) as Name[];
  const methods = Object.fromEntries(names.map((name) => [name, (ask: Asked = {}) => perform(transport, name, ask)]));
  return { ...methods, ...own } as unknown as FoyerClient;
}

async function perform(transport: Transport, name: Name, ask: Asked): Promise<unknown> {
  const response = await transport.send(name, ask);
  const { answer } = addresses[name];
  if (answer === 'bytes' || answer === 'events') return response;
  if (response.status === 204 || response.status === 304 || answer === 'none') {
    await response.body?.cancel();
    return undefined;
  }
  return response.json();
}

async function* eachOf(transport: Transport, name: Name, ask: Asked): AsyncGenerator<unknown, void, void> {
  let cursor: string | null | undefined;
  do {
    const query = { ...ask.query, ...(cursor && { cursor }) };
    const page = (await perform(transport, name, { ...ask, query })) as Page;
    yield* page.items;
    cursor = page.page.hasMore ? page.page.cursor : null;
  } while (cursor);
}

interface Page {
  items: unknown[];
  page: { cursor: string | null; hasMore: boolean };
}
