// One file of a remote storage, read through the API pods by a process that has no keys.
import { networkFault } from './addresses.ts';
import { guarded } from './guarded.ts';
import { Absent, type Listed, type Options, StorageFault, type StorageReader } from './reader.ts';

/** The path of the relay on the metrics port, before a token. */
export const RELAY_PATH = '/media/';

export interface Tokens {
  current: () => Promise<string>;
  /** The last one was refused. */
  forget: () => void;
}

/** Reads the file of the tokens, whatever path is given. It lists and writes nothing. */
export function relayReader(base: string, tokens: Tokens): StorageReader {
  const way = { base, tokens };
  return guarded({
    stat: (path, options) => describe(way, path, options),
    read: (_path, range, options) => bytesOf(way, range, options),
    list: refuse,
    write: refuse,
    remove: refuse,
    space: async () => undefined,
    close: async () => undefined,
  });
}

const refuse = (): Promise<never> =>
  Promise.reject(new StorageFault('permission-denied', 'the relay serves one file and changes nothing'));

interface Way {
  base: string;
  tokens: Tokens;
}

async function describe(way: Way, path: string, { signal }: Options = {}): Promise<Listed | undefined> {
  const { status, headers } = await send(way, { method: 'HEAD', signal });
  if (status === 404) return undefined;
  const numberOf = (name: string): number => Number(headers.get(name) ?? Number.NaN);
  const [size, modifiedMs] = [numberOf('content-length'), numberOf('x-modified-ms')];
  // An API of an earlier release answers 200 with its metrics.
  if (status !== 200 || !Number.isSafeInteger(size) || !Number.isFinite(modifiedMs)) throw faultOf(status);
  return { name: path.slice(path.lastIndexOf('/') + 1), kind: 'file', size, modifiedMs, readable: true };
}

async function bytesOf(
  way: Way,
  { start, length }: { start: number; length: number },
  { signal }: Options = {},
): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  const response = await send(way, { method: 'GET', range: `bytes=${start}-${start + length - 1}`, signal });
  if (response.status === 206 && Number(response.headers.get('content-length') ?? length + 1) <= length)
    return Buffer.from(await response.arrayBuffer().catch((error: unknown) => unreachable(error, signal)));
  await response.body?.cancel();
  if (response.status === 416) return Buffer.alloc(0);
  throw response.status === 404 ? new Absent('no such file') : faultOf(response.status);
}

interface Sending extends Options {
  method: 'GET' | 'HEAD';
  range?: string;
}

async function send({ base, tokens }: Way, { method, range, signal }: Sending): Promise<Response> {
  const address = new URL(RELAY_PATH + (await tokens.current()), base);
  const response = await fetch(address, {
    method,
    redirect: 'manual',
    headers: { 'Accept-Encoding': 'identity', ...(range !== undefined && { Range: range }) },
    ...(signal && { signal }),
  }).catch((error: unknown) => unreachable(error, signal));
  if (response.status === 404) tokens.forget(); // the key may be another one, after a restore
  return response;
}

function unreachable(error: unknown, signal: AbortSignal | undefined): never {
  signal?.throwIfAborted();
  throw networkFault(error) ?? new StorageFault('host-unreachable', 'the relay does not answer', { stage: 'connect' });
}

function faultOf(status: number): StorageFault {
  if (status === 429) return new StorageFault('slow', 'the relay serves too many reads');
  if (status === 504) return new StorageFault('timeout', 'the storage does not answer the relay in time');
  return new StorageFault('host-unreachable', `the relay answers ${status}`);
}
