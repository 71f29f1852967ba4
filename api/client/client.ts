import type { Operations } from './areas/index.ts';
import { routes } from './areas/routes.ts';
import { type EventsOptions, type FoyerEvent, follow, type Reset } from './events.ts';
import { addressOf, type ClientOptions, type RequestParts, routeOf, Transport } from './transport.ts';

type Name = keyof Operations;
type Member<N extends Name, P extends 'params' | 'query' | 'body'> = P extends keyof Operations[N]
  ? Pick<Operations[N], P>
  : { [K in P]?: undefined };

/** The request of an operation; parts that it does not have do not compile. */
export type RequestOf<N extends Name> = Member<N, 'params'> &
  Member<N, 'query'> &
  Member<N, 'body'> & {
    /** Such as If-Match or Idempotency-Key. */
    headers?: Record<string, string>;
    signal?: AbortSignal;
  };
export type ResponseOf<N extends Name> = Operations[N]['response'];

/** Optional when the operation needs no part. */
type Args<N extends Name> = object extends RequestOf<N> ? [request?: RequestOf<N>] : [request: RequestOf<N>];

type Methods = { [N in Name]: (...args: Args<N>) => Promise<ResponseOf<N>> };

/** Operations whose response is a page. */
export type Listing = { [N in Name]: ResponseOf<N> extends { items: unknown[]; page: unknown } ? N : never }[Name];
type ItemOf<N extends Listing> = ResponseOf<N> extends { items: (infer I)[] } ? I : never;

/** Every operation by its operationId, and helpers over several requests. */
export type FoyerClient = Methods & {
  /** Every entry of a list; pages are requested as the loop needs them. */
  each<N extends Listing>(name: N, ...args: Args<N>): AsyncGenerator<ItemOf<N>, void, void>;
  /** Server-sent events across lost connections, each once. */
  events(request?: EventsOptions): AsyncGenerator<FoyerEvent | Reset, void, void>;
  /** The address of an operation, for players and pictures; it holds no credential. */
  address<N extends Name>(name: N, ...args: Args<N>): string;
};

/** A client of one server. Methods throw FoyerError when the server refuses a request. */
export function createClient(options: ClientOptions): FoyerClient {
  const transport = new Transport(options);
  const own = {
    each: (name: Name, request: RequestParts = {}) => eachOf(transport, name, request),
    events: (request: EventsOptions = {}) => follow(transport, request),
    address: (name: Name, request: RequestParts = {}) => addressOf(options.server, name, request),
  };
  const names = Object.keys(routes) as Name[];
  const methods = Object.fromEntries(
    names.map((name) => [name, (request: RequestParts = {}) => perform(transport, name, request)]),
  );
  return { ...methods, ...own } as unknown as FoyerClient;
}

async function perform(transport: Transport, name: Name, request: RequestParts): Promise<unknown> {
  const response = await transport.send(name, request);
  if (routeOf(name).bytes) return response;
  if (response.status === 204 || response.status === 304) {
    await response.body?.cancel();
    return undefined;
  }
  return response.json();
}

async function* eachOf(transport: Transport, name: Name, request: RequestParts): AsyncGenerator<unknown, void, void> {
  let cursor: string | null | undefined;
  do {
    const query = { ...request.query, ...(cursor && { cursor }) };
    const page = (await perform(transport, name, { ...request, query })) as Page;
    yield* page.items;
    cursor = page.page.hasMore ? page.page.cursor : null;
  } while (cursor);
}

interface Page {
  items: unknown[];
  page: { cursor: string | null; hasMore: boolean };
}
