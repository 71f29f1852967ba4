import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Client } from '#identity/client.ts';
import type { KeyUses } from '#identity/key-uses.ts';
import type { PlusFeature } from '#identity/licence.ts';
import type { Permission } from '#identity/permissions.ts';
import type { Principal } from '#identity/principal.ts';
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

type Schema = z.core.$ZodType; // not ZodType: half the types to check (SPINE 1)

/** What an operation asks for before it runs. `person` is a signed-in person, never a key; `owner` such a person who owns the server. */
export type Access =
  | { permission: Permission }
  | { signedIn: true }
  | { person: true }
  | { owner: true }
  | { anyone: true; because: string };

/** Composition root: made once in main.ts; tests make their own. */
export interface Deps {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  keys: Keys;
  log: Log;
  settings: Settings;
  /** What was last seen of the stores. */
  vitals: Vitals;
  keyUses: KeyUses;
  /** Opens pictures of others, never in this process. */
  pictures: Pictures;
  /** Aborted when the process is told to stop. */
  draining: AbortSignal;
}

/** What a handler may set of the answer beside its value. */
export interface Reply {
  header: (name: string, value: string | string[]) => void;
  /** Another success status than the declared one, such as 200 for a repeat. */
  status: (code: 200 | 201 | 202 | 204 | 206 | 304) => void;
}

export interface Call {
  /** The transaction of this request for writes; the pool for reads and for `transaction: 'manual'`. */
  db: Db;
  who: Principal;
  /** Written with the transaction, published after its commit. */
  emit: <N extends EventName>(name: N, payload: Payload<N>, facts?: EventFacts) => Promise<void>;
  /** A job row and its task in the transaction; answers the job's id (of the waiting one when `key` is taken). */
  enqueue: <N extends JobName>(name: N, payload: JobPayload<N>, options?: EnqueueOptions) => Promise<string>;
  /** For `transaction: 'manual'`: runs `work` with a call whose db is a transaction. */
  transact: <T>(work: (call: Call) => Promise<T>) => Promise<T>;
  /** Runs once the transaction has committed (at once outside one); its failure is logged, not answered. */
  afterCommit: (work: () => Promise<unknown>) => void;
  now: Date;
  log: Log;
  /** Aborted when the client goes away or the process ends. */
  signal: AbortSignal;
  client: Client;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: IncomingHttpHeaders;
  reply: Reply;
  /** For public operations: who asks, when a valid credential came along. */
  identify: () => Promise<Principal | undefined>;
  deps: Deps;
}

/** Bytes that a handler of a `bytes` answer returns; the pipeline adds nothing to them but security headers. */
export interface Bytes {
  body: Readable | Buffer | string | null;
  type?: string;
  length?: number;
  /** Takes the response over once its head is out; `body` is then not looked at. */
  take?: (response: ServerResponse) => void;
  /** In place of `take`, for what lasts for hours: takes the bare connection, and closes it. */
  hold?: (socket: Socket) => void;
}

/** A JSON answer that Postgres wrote whole: it goes out as it is, unparsed, so its SQL alone says what leaves. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What a handler returns in place of a value of its answer's schema. */
export const jsonText = <T>(text: string): T => new JsonText(text) as T;

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

/** A part that is not declared is `undefined`, so using it is an error and not `any`. */
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
  /** verbNoun, unique in the API; the exported name, the client's method and the log field. */
  operationId: N;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below /api/v1, parameters as `:id`. */
  path: `/${string}`;
  summary: string;
  description?: string;
  access: Access;
  /** Credentials when not all three are accepted. */
  credentials?: readonly ('cookie' | 'bearer' | 'key')[];
  params?: P;
  query?: Q;
  body?: B;
  /** Largest body, bytes. When absent 1 MiB, and 16 KiB where anyone may send it without a `proof`. Of a form it counts for the fields that are no files. */
  maxBodyBytes?: number;
  /** The body is bytes of these media types, not JSON: `body` is `uploaded`. */
  bodyMedia?: readonly string[];
  /** The body is application/x-www-form-urlencoded, not JSON; members that `body` does not name are for its schema to take or leave. */
  urlEncoded?: true;
  /** As multipart/form-data these parts may lie beside the members of `body`, which names them as `uploaded`. */
  files?: Readonly<Record<string, FilePart>>;
  /** Body may be left out. */
  optionalBody?: true;
  answer: Answer<R>;
  /** Success statuses beside the answer's, with the same body; 200 for the repeat of what creates goes without saying. */
  also?: readonly (200 | 202)[];
  /** Beyond those that follow from access, schemas and `id` parameters. */
  errors?: readonly ErrorCode[];
  /** Events it may cause, for the description. */
  emits?: readonly EventName[];
  /** Refused with 402 while this paid feature is closed; `partly`: the handler says when (`requirePlus`). */
  plus?: PlusFeature | { partly: PlusFeature };
  /** Also reachable with a cast ticket. */
  castTicket?: true;
  /** Members of the answer that a repeat under the same `Idempotency-Key` does not get, and that are kept nowhere: secrets. */
  unrepeated?: readonly string[];
  /** Writes run in one transaction unless `manual`. */
  transaction?: 'manual';
  /** Answers before Postgres was reached (Server only). */
  beforeReady?: true;
  /** Answered outside viewing hours too (Auth only). */
  anyHour?: true;
  /** Asks for the credential of an operation that the pipeline takes for public: a refusal comes before those of the content. */
  proof?: (call: Call) => Promise<void>;
  /** Counts the attempt of this address before its body is read; throws 429. */
  counts?: (call: Call) => Promise<unknown>;
  handle(input: Input<P, Q, B>, call: Call): Promise<z.input<R>>; // method syntax, so that every endpoint joins one list
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

/** One of the 57 areas: its endpoints are a tuple so that the client knows their names. */
export interface Area<L extends readonly Endpoint[] = readonly Endpoint[]> {
  slug: string;
  name: string;
  endpoints: L;
}

export function defineArea<const L extends readonly Endpoint[]>(slug: string, name: string, endpoints: L): Area<L> {
  return { slug, name, endpoints };
}
