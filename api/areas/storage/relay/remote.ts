import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import type { StorageReader } from '../readers/reader.ts';
import { relayReader, type Tokens } from '../readers/relay.ts';
import { relayKey } from './relay.store.ts';
import { type RelayedFile, TOKEN_MS, tokenOf } from './token.ts';

interface Deps {
  db: Db;
  config: Pick<Config, 'keysFile' | 'mediaRelay'>;
}

/** The least recently used reader is dropped beyond this; its reads go on. */
const MOST_READERS = 500;
/** A token is replaced when it has less than this left. */
const MARGIN_MS = TOKEN_MS / 6;

/** One for each file, so that a file keeps its address. */
const readers = new Map<string, StorageReader>();

/** The reader of a remote file in a process without keys; undefined in one that has keys, and where no relay is configured. */
export async function relayedReader({ db, config }: Deps, given: RelayedFile): Promise<StorageReader | undefined> {
  const { keysFile, mediaRelay: base } = config;
  if (base === undefined || (await hasKeys(keysFile))) return undefined;
  const { storageId, folderId, path, sizeBytes, modifiedMs } = given;
  const file = { storageId, folderId, path, sizeBytes, modifiedMs };
  const key = JSON.stringify([base, file]);
  const reader = readers.get(key) ?? relayReader(base, tokensOf(db, file));
  readers.delete(key);
  readers.set(key, reader);
  const [oldest] = readers.keys();
  if (readers.size > MOST_READERS && oldest !== undefined) readers.delete(oldest);
  return reader;
}

const hasKeys = (file: string): Promise<boolean> =>
  ringOf(file).then(
    () => true,
    () => false,
  );

function tokensOf(db: Db, file: RelayedFile): Tokens {
  let known: { token: string; until: number } | undefined;
  return {
    async current() {
      const now = Date.now();
      if (!known || known.until - now < MARGIN_MS)
        known = { token: tokenOf(await relayKey(db), file, now), until: now + TOKEN_MS };
      return known.token;
    },
    forget() {
      known = undefined;
    },
  };
}
