// Files of remote storages for processes without keys, on the metrics port.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Db } from '#platform/db.ts';
import { isBelow } from '#platform/is-below.ts';
import type { Log } from '#platform/log.ts';
import { isAddress } from '#platform/media-bytes.ts';
import { BLOCK_BYTES } from '../readers/reader.ts';
import { RELAY_PATH } from '../readers/relay.ts';
import { readerById } from '../serving/folders.ts';
import { type MediaConfig, openMedia } from '../serving/opening.ts';
import { type RemoteFile, sendRange } from '../serving/ranges.ts';
import { folderPath, relayKey } from './relay.store.ts';
import { fileOf, type RelayedFile } from './token.ts';

interface Deps {
  db: Db;
  config: MediaConfig;
  log: Log;
}

/** Answers that are sent at once, each with at most one block in memory. */
const MOST_ANSWERS = 32;
/** A client that takes no byte for this long is dropped. */
const SILENT_MS = 60_000;
/** An opened file is used again for this long, so that a block costs no look at the storage. */
const OPEN_MS = 5000;
const MOST_OPEN = 500;

/** A handler for the metrics port, which returns false for other paths. */
export function mediaRelay(deps: Deps): (request: IncomingMessage, response: ServerResponse) => boolean {
  const relay = new Relay(deps);
  return (request, response) => {
    if (!request.url?.startsWith(RELAY_PATH)) return false;
    void relay.answer(request, response);
    return true;
  };
}

type Found = RemoteFile | 404 | 503 | 504;

class Relay {
  readonly #deps: Deps;
  readonly #open = new Map<string, { file: RemoteFile; until: number }>();
  #answers = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#answers >= MOST_ANSWERS) return end(response, 429);
    this.#answers += 1;
    response.setTimeout(SILENT_MS, () => response.destroy());
    try {
      const found = isRead(request) ? await this.#find(request.url?.slice(RELAY_PATH.length) ?? '') : 404;
      if (typeof found === 'number') end(response, found);
      else await sendRange(found, { request, response, firstBytes: BLOCK_BYTES });
    } catch (error) {
      this.#deps.log.warn({ err: (error as Error).message }, 'relay of a file');
      if (response.headersSent) response.destroy();
      else end(response, 503);
    } finally {
      this.#answers -= 1;
    }
  }

  async #find(token: string): Promise<Found> {
    const { db } = this.#deps;
    const wanted = fileOf(await relayKey(db), token);
    if (!wanted) return 404;
    const known = this.#open.get(token);
    if (known && known.until > Date.now()) return known.file;
    const found = await openRelayed(this.#deps, wanted);
    this.#open.delete(token);
    if (typeof found === 'object') this.#open.set(token, { file: found, until: Date.now() + OPEN_MS });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MOST_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return found;
  }
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** Opens the file as for a viewer, and only inside its library folder. Mounts are read where they are mounted. */
async function openRelayed(deps: Deps, wanted: RelayedFile): Promise<Found> {
  const folder = await folderPath(deps.db, wanted);
  if (folder === undefined || !isBelow(`/${folder}`, `/${wanted.path}`)) return 404;
  const found = await openMedia(deps, wanted);
  if (found.kind === 'unavailable') return found.reason === 'timeout' ? 504 : 503;
  if (found.kind === 'absent' || !isAddress(found.absolute)) return 404;
  const reader = await readerById(deps, wanted.storageId);
  if (!reader) return 404;
  return { reader, path: wanted.path, size: found.size, modifiedMs: found.modifiedAt.getTime() };
}
