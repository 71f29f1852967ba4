import type { Response, WebDAVClient } from 'webdav';
import { aside } from '#platform/aside.ts';
import type { WebdavSettings } from '../kinds/settings.ts';
import type { StorageReason } from '../storages.schemas.ts';
import { agentOf, judgeOf, networkFault, type Reach } from './addresses.ts';
import { type DraftWays, placeByDraft } from './placing.ts';
import { Absent, joined, type Listed, Occupied, type Options, StorageFault, type StorageReader } from './reader.ts';
import { type Member, readMembers } from './webdav-answer.ts';

const SILENT_MS = 30_000;
/** Largest list of a folder. */
const LIST_BYTES = 64 << 20;
/** A longer answer is read in a thread. */
const LONG = 256 << 10;
const PARSE_MS = 15_000;

const PROPERTIES =
  '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>';

interface Place {
  client: () => Promise<WebDAVClient>;
  /** Path of the storage's root on the server, decoded. */
  base: string;
}

/** A folder of a WebDAV server. */
export function webdavReader(reach: Reach, settings: WebdavSettings, secrets: Record<string, string>): StorageReader {
  const url = new URL(settings.url);
  const judge = judgeOf(reach, url.hostname.replace(/^\[|\]$/g, ''));
  const { insecureTls, username } = settings;
  const httpAgent = agentOf(judge, { tls: false, silentMs: SILENT_MS });
  const httpsAgent = agentOf(judge, { tls: true, silentMs: SILENT_MS, insecureTls });
  let made: Promise<WebDAVClient> | undefined;
  const make = async (): Promise<WebDAVClient> => {
    const { AuthType, createClient, getPatcher } = await import('webdav'); // large, so only where it is used
    const { fetchFollowing } = await import('./webdav-redirects.ts');
    type Sent = Parameters<typeof fetchFollowing>;
    getPatcher().patch('fetch', (...sent: unknown[]) => fetchFollowing(...(sent as Sent)));
    const who = username === undefined ? { authType: AuthType.None } : { authType: AuthType.Auto, username };
    return createClient(settings.url, { ...who, password: secrets['password'] ?? '', httpAgent, httpsAgent });
  };
  const place = {
    client: () => {
      made ??= make();
      return made;
    },
    base: joined(decodeURIComponent(url.pathname)),
  };
  const calls = { ...readsOf(place), ...writesOf(place) };
  return {
    ...calls,
    place: (path, file, options) => placeByDraft({ ...calls, ...movesOf(place) }, path, { ...file, ...options }),
    space: async () => undefined, // the answer of a foreign server would be read whole
    async close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

function readsOf(place: Place): Pick<StorageReader, 'list' | 'stat' | 'read'> {
  return {
    async list(path, { most, signal }) {
      const own = joined(place.base, path);
      const members = await membersOf(place, path, { depth: '1', signal });
      if (members.find((member) => member.path === own)?.isFolder === false) throw new Absent('not a folder');
      const below = members.flatMap((member) => {
        const entry = entryBelow(own, member);
        return entry ? [entry] : [];
      });
      return { entries: below.slice(0, most), cut: below.length > most };
    },
    async stat(path, { signal } = {}) {
      const members = await membersOf(place, path, { depth: '0', signal }).catch((error: unknown) => {
        if (error instanceof Absent) return [];
        throw error;
      });
      const [found] = members;
      return found && toListed(path.slice(path.lastIndexOf('/') + 1), found);
    },
    async read(path, { start, length }, { signal } = {}) {
      if (length === 0) return Buffer.alloc(0);
      const response = await send(place, path, {
        ...{ method: 'GET', signal },
        headers: { Range: `bytes=${start}-${start + length - 1}`, 'Accept-Encoding': 'identity' },
      });
      if (response.status === 416) return Buffer.alloc(0);
      if (response.status !== 206 && start > 0) {
        await bodyOf(response, { most: 1, cut: true }); // closes it
        throw new StorageFault('slow', 'the server sends no part of a file');
      }
      return bodyOf(response, { most: length, cut: true });
    },
  };
}

function writesOf(place: Place): Pick<StorageReader, 'write' | 'remove'> {
  return {
    async write(path, content, { replace = false } = {}) {
      const client = await place.client();
      const written = await asFault(client.putFileContents(pathOf(path), content, { overwrite: replace }));
      if (!written) throw new Occupied('a file is there already');
    },
    async remove(path) {
      const client = await place.client();
      try {
        await asFault(client.deleteFile(pathOf(path)));
      } catch (error) {
        if (!(error instanceof Absent)) throw error;
      }
    },
  };
}

function movesOf(place: Place): Pick<DraftWays, 'makeFolder' | 'put' | 'move'> {
  return {
    async makeFolder(path) {
      const client = await place.client();
      await asFault(client.createDirectory(pathOf(path)));
    },
    async put(path, body, { size, modifiedAt, signal }) {
      const client = await place.client();
      const time = modifiedAt && { 'X-OC-Mtime': String(Math.trunc(modifiedAt.getTime() / 1000)) }; // ownCloud and Nextcloud keep it
      const headers = { 'Content-Length': String(size), ...time };
      await asFault(client.putFileContents(pathOf(path), body, { headers, ...(signal && { signal }) }));
    },
    async move(from, to) {
      const client = await place.client();
      await asFault(client.moveFile(pathOf(from), pathOf(to), { overwrite: false }));
    },
  };
}

/** The package sends two backslashes as they are, and an address takes each for a slash, so that `..` before them leaves the folder. */
function pathOf(path: string): string {
  if (path.includes('\\\\')) throw new Absent('no such path');
  return `/${path}`;
}

interface Sending extends Options {
  method: string;
  headers: Record<string, string>;
  data?: string;
}

async function send(place: Place, path: string, { signal, ...options }: Sending): Promise<Response> {
  const client = await place.client();
  return asFault(client.customRequest(pathOf(path), { ...options, ...(signal && { signal }) }));
}

async function membersOf(
  place: Place,
  path: string,
  { depth, signal }: Options & { depth: '0' | '1' },
): Promise<Member[]> {
  const response = await send(place, path, {
    ...{ method: 'PROPFIND', data: PROPERTIES, signal },
    headers: { Depth: depth, Accept: 'application/xml', 'Content-Type': 'application/xml' },
  });
  if (response.status !== 207)
    throw new StorageFault('host-unreachable', `the server is no WebDAV server (${response.status})`);
  const text = (await bodyOf(response, { most: LIST_BYTES })).toString('utf8');
  const parsing =
    text.length < LONG
      ? readMembers(text)
      : aside<Member[]>(
          { module: new URL('./webdav-answer.ts', import.meta.url), name: 'readMembers', limitMs: PARSE_MS },
          text,
        );
  return parsing.catch((error: unknown) => {
    throw new StorageFault('host-unreachable', 'the server does not answer as WebDAV', { cause: error });
  });
}

/** Throws a fault for a longer body, or cuts it. */
async function bodyOf(response: Response, { most, cut = false }: { most: number; cut?: boolean }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of streamOf(response)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size < most) continue;
      if (size > most && !cut) throw new StorageFault('full', 'the folder has too many entries');
      break;
    }
  } catch (error) {
    throw networkFault(error) ?? error;
  }
  return Buffer.concat(chunks).subarray(0, most);
}

/** The body as Node reads it; the type of the package knows only that of browsers. */
const streamOf = (response: Response): AsyncIterable<Buffer> =>
  (response as unknown as { body: AsyncIterable<Buffer> | null }).body ?? NOTHING;

const NOTHING: AsyncIterable<Buffer> = { async *[Symbol.asyncIterator]() {} };

/** Only direct members of the folder. */
function entryBelow(own: string, member: Member): Listed | undefined {
  const prefix = own === '' ? '' : `${own}/`;
  if (member.path === own || !member.path.startsWith(prefix)) return undefined;
  const name = member.path.slice(prefix.length);
  return name.includes('/') || name === '.' || name === '..' ? undefined : toListed(name, member);
}

const toListed = (name: string, { isFolder, size, modifiedMs }: Member): Listed => ({
  ...{ name, kind: isFolder ? 'directory' : 'file', size: isFolder ? 0 : size, modifiedMs, readable: true },
});

const REASONS: Record<number, StorageReason> = {
  401: 'authentication-failed',
  403: 'permission-denied',
  423: 'read-only-now',
  405: 'read-only-now',
  429: 'slow',
  507: 'full',
};

async function asFault<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const status = statusOf(error);
    if (status === 416) return (error as Error & { response: T }).response;
    throw networkFault(error) ?? faultOf(status);
  }
}

const statusOf = (error: unknown): number => (error instanceof Error && 'status' in error ? Number(error.status) : 0);

function faultOf(status: number): Error {
  if (status === 404 || status === 410) return new Absent('no such file');
  if (status === 412) return new Occupied('a file is there already');
  const reason = REASONS[status] ?? 'host-unreachable';
  const stage = reason === 'authentication-failed' ? ({ stage: 'authenticate' } as const) : {};
  return new StorageFault(reason, `the server answers ${status || 'with an error'}`, stage);
}
