import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Client } from '#identity/client.ts';
import type { KeyUses } from '#identity/key-uses.ts';
import type { PlusFeature } from '#identity/licence.ts';
import type { Permission } from '#identity/permissions.ts';
import type { Principal } from '#identity/principal.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, EventName, Payload } from '#platform/events.ts';
import type { EnqueueOptions, JobName, JobPayload } from '#platform/jobs.ts';
import type { Keys } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Pictures } from '#platform/pictures.ts';
import type { Redis } from '#platform/redis.ts';
import type { Settings } from '#platform/settings.ts';
import type { Vitals } from '#platform/vitals.ts';
import type { ErrorCode } from './errors.ts';
import type { FilePart } from './uploads.ts';

type Schema = z.core.$ZodType; // not ZodType, which doubles the number of types to check

/** Access that an operation requires. `person` is a signed-in person, never an API key; `owner` is the person who owns the server. */
export type Access =
  | { permission: Permission }
  | { signedIn: true }
  | { person: true }
  | { owner: true }
  | { anyone: true; because: string };

/** Dependencies of the process, created once in main.ts; tests create their own. */
export interface Deps {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  keys: Keys;
  log: Log;
  settings: Settings;
  /** Last observed state of the stores. */
  vitals: Vitals;
  keyUses: KeyUses;
  /** Decodes untrusted pictures, never in this process. */
  pictures: Pictures;
  /** Queries of catalogues. */
  catalogues: Catalogues;
  /** Aborted when the process has to stop. */
  draining: AbortSignal;
}

/** Parts of the response that a handler sets in addition to its value. */
export interface Reply {
  header: (name: string, value: string | string[]) => void;
  /** Another success status than the declared one, such as 200 for a repeat. */
  status: (code: 200 | 201 | 202 | 204 | 206 | 304) => void;
}

export interface Call {
  /** The transaction of this request for writes; the pool for reads and for `transaction: 'manual'`. */
  db: Db;
  who: Principal;
  /** Writes the event in the transaction; it is published after the commit. */
  emit: <N extends EventName>(name: N, payload: Payload<N>, facts?: EventFacts) => Promise<void>;
  /** Enqueues a job in the transaction and returns its id, which is that of the waiting job when `key` is taken. */
  enqueue: <N extends JobName>(name: N, payload: JobPayload<N>, options?: EnqueueOptions) => Promise<string>;
  /** For `transaction: 'manual'`: runs `work` with a call whose db is a transaction. */
  transact: <T>(work: (call: Call) => Promise<T>) => Promise<T>;
  /** Runs after the commit, or at once outside a transaction. A failure is logged and does not fail the request. */
  afterCommit: (work: () => Promise<unknown>) => void;
  now: Date;
  /** When the request arrived, on the clock of `performance.now()`: requests are in its order, whatever each waited for since. */
  began: number;
  log: Log;
  /** Aborted when the client disconnects or the process ends. */
  signal: AbortSignal;
  client: Client;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: IncomingHttpHeaders;
  reply: Reply;
  /** For public operations: the caller, when the request has a valid credential. */
  identify: () => Promise<Principal | undefined>;
  deps: Deps;
}

/** Result of a handler with a `bytes` answer; the pipeline adds only security headers. */
export interface Bytes {
  body: Readable | Buffer | string | null;
  type?: string;
  length?: number;
  /** Takes the response over after its head was sent; `body` is then ignored. */
  take?: (response: ServerResponse) => void;
  /** Instead of `take`, for responses that last for hours: takes the bare connection over and closes it. */
  hold?: (socket: Socket) => void;
}

/** A JSON answer that Postgres wrote as a whole. It is sent unparsed, so its SQL alone decides which members leave the server. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The result of a handler instead of a value of its answer schema. */
export const jsonText = <T>(text: string): T => new JsonText(text) as T;

/** A text of another media type than JSON, for a client that requests it by `Accept`. */
export class OtherText {
  readonly type: string;
  readonly text: string;
  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** The result of a handler instead of a value of its answer schema. */
export const otherText = <T>(type: string, text: string): T => new OtherText(type, text) as T;

export interface Answer<R extends Schema = Schema> {
  kind: 'json' | 'page' | 'none' | 'bytes';
  status: number;
  schema: R;
  /** Media types of a `bytes` answer. */
  media?: readonly string[];
}

export const json = <R extends Schema>(status: 200 | 201 | 202, schema: R): Answer<R> => ({
  kind: 'json',
  status,
  schema,
});
export const none = (): Answer<z.ZodVoid> => ({ kind: 'none', status: 204, schema: z.void() });
export const bytes = (...media: string[]): Answer<z.ZodCustom<Bytes, Bytes>> => ({
  kind: 'bytes',
  status: 200,
  schema: z.custom<Bytes>(),
  media,
});

/** Gives back resources that a request holds. A failure is logged and does not fail the request. */
export type Release = () => Promise<unknown>;

/** An undeclared part is `undefined`, so that using it is a type error. */
type Part<S> = S extends Schema ? z.output<S> : undefined;
export interface Input<P, Q, B> {
  params: Part<P>;
  query: Part<Q>;
  body: Part<B>;
}

export interface Endpoint<
  N extends string = string,
  P extends Schema | undefined = Schema | undefined,
  Q extends Schema | undefined = Schema | undefined,
  B extends Schema | undefined = Schema | undefined,
  R extends Schema = Schema,
> {
  /** verbNoun, unique in the API; also the exported name, the method of the client and the log field. */
  operationId: N;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path below /api/v1, with parameters such as `:id`. */
  path: `/${string}`;
  summary: string;
  description?: string;
  access: Access;
  /** Accepted credentials; absent is all three. */
  credentials?: readonly ('cookie' | 'bearer' | 'key')[];
  params?: P;
  query?: Q;
  body?: B;
  /** Largest body in bytes; absent is 1 MiB, and 16 KiB for public operations without `proof`. In a form it limits fields other than files. */
  maxBodyBytes?: number;
  /** The body is bytes of these media types, not JSON: `body` is `uploaded`. */
  bodyMedia?: readonly string[];
  /** With `bodyMedia`: the handler reads the bytes as they arrive; `body` is `streamedBody`. */
  streamed?: true;
  /** The body is application/x-www-form-urlencoded, not JSON; the schema decides on unknown members. */
  urlEncoded?: true;
  /** File parts that a multipart/form-data body may have; `body` declares them as `uploaded`. */
  files?: Readonly<Record<string, FilePart>>;
  /** The body may be absent. */
  optionalBody?: true;
  answer: Answer<R>;
  /** Success statuses in addition to that of the answer, with the same body; 200 for a repeated creation is implied. */
  also?: readonly (200 | 201 | 202)[];
  /** Error codes in addition to those that follow from access, schemas and `id` parameters. */
  errors?: readonly ErrorCode[];
  /** Events that it may emit, for the description. */
  emits?: readonly EventName[];
  /** Refused with 402 while this paid feature is closed; with `partly` the handler decides (`requirePlus`). */
  plus?: PlusFeature | { partly: PlusFeature };
  /** Also reachable with a cast ticket. */
  castTicket?: true;
  /** Secret members of the answer, which are not stored and which a repeat with the same `Idempotency-Key` does not get. */
  unrepeated?: readonly string[];
  /** Writes run in one transaction unless `manual`. */
  transaction?: 'manual';
  /**
   * Runs before the transaction, such as what waits for the network; not for a repeat with the same `Idempotency-Key`. The
   * function that it returns runs after the transaction, whether that was committed or not.
   */
  before?: (input: Input<P, Q, B>, call: Call) => Promise<Release | undefined>;
  /** Served before Postgres is available (Server only). */
  beforeReady?: true;
  /** Served outside viewing hours too (Auth only). */
  anyHour?: true;
  /** Checks the credential of an operation that is public for the pipeline, before the content is validated. */
  proof?: (call: Call) => Promise<void>;
  /** Counts an attempt before the body is read; throws 429. */
  counts?: (call: Call) => Promise<unknown>;
  handle(input: Input<P, Q, B>, call: Call): Promise<z.input<R>>; // method syntax, so that every endpoint is assignable to one list
}

export function defineEndpoint<
  const N extends string,
  R extends Schema,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(endpoint: Endpoint<N, P, Q, B, R>): Endpoint<N, P, Q, B, R> {
  return endpoint;
}

/** One area of the API; its endpoints are a tuple, so that the client knows their names. */
export interface Area<L extends readonly Endpoint[] = readonly Endpoint[]> {
  slug: string;
  name: string;
  endpoints: L;
}

export function defineArea<const L extends readonly Endpoint[]>(slug: string, name: string, endpoints: L): Area<L> {
  return { slug, name, endpoints };
}
