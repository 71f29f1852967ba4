import type { Config } from '#platform/config.ts';
import { type Keys, ringOf } from '#platform/keys.ts';
import { type OpenDeps, openReader, type Place } from './readers/open.ts';
import { StorageFault, type StorageReader } from './readers/reader.ts';
import { type StorageRow, secretsOf } from './storages.store.ts';

type RegistryConfig = OpenDeps['config'] & Pick<Config, 'keysFile'>;

let personalHosts = (): readonly string[] => [];

/** The setting `storages.personalHosts`, as this process reads it. */
export function takePersonalHosts(hosts: () => readonly string[]): void {
  personalHosts = hosts;
}

/** What the addresses of a member's drive are judged by. */
export const personalReach = (ownerId: string | null): Place['personal'] =>
  ownerId === null ? undefined : { hosts: personalHosts() };

/** Decoder pods of a cluster have no keys, and mounts need none. Throws `StorageFault` there. */
async function keysOf({ keysFile }: Pick<Config, 'keysFile'>): Promise<Keys> {
  return ringOf(keysFile).catch((error: unknown) => {
    throw new StorageFault('authentication-failed', 'this process has no keys', { cause: error });
  });
}

interface Open {
  version: string;
  reader: StorageReader;
  idle: NodeJS.Timeout;
}

const readers = new Map<string, Open>();
const IDLE_MS = 5 * 60_000;

type Opened = Pick<StorageRow, 'id' | 'kind' | 'settings' | 'secrets' | 'owner_id'>;

/** The reader of a saved storage in this process, opened again when its settings changed. Throws `StorageFault`. */
export async function readerOfStorage(config: RegistryConfig, row: Opened, idleMs = IDLE_MS): Promise<StorageReader> {
  const personal = personalReach(row.owner_id);
  const version = JSON.stringify([row.kind, row.settings, row.secrets, personal]);
  const known = readers.get(row.id);
  if (known?.version === version) {
    known.idle.refresh();
    return known.reader;
  }
  const secrets = row.secrets === null ? {} : secretsOf(await keysOf(config), row);
  const opened = openReader({ config }, { kind: row.kind, settings: row.settings, secrets, personal });
  const use = { refresh: () => readers.get(row.id)?.idle.refresh(), everyMs: idleMs / 5 };
  const reader = keptWhileUsed(opened, use);
  forget(row.id);
  const idle = setTimeout(() => forget(row.id), idleMs).unref();
  readers.set(row.id, { version, reader, idle });
  return reader;
}

/** A reader that is not idle while it reads, or places a file, which may take hours. */
function keptWhileUsed(
  reader: StorageReader,
  { refresh, everyMs }: { refresh: () => void; everyMs: number },
): StorageReader {
  const kept: StorageReader = {
    ...reader,
    read: (...given) => {
      refresh();
      return reader.read(...given);
    },
  };
  if (!reader.place) return kept;
  kept.place = async (...given) => {
    const beat = setInterval(refresh, everyMs).unref();
    try {
      return await reader.place?.(...given);
    } finally {
      clearInterval(beat);
    }
  };
  return kept;
}

/** Reads that run end at the old place; it is closed once they had time. */
function forget(id: string): void {
  const known = readers.get(id);
  if (!known) return;
  readers.delete(id);
  clearTimeout(known.idle);
  setTimeout(() => void known.reader.close().catch(() => undefined), 60_000).unref();
}
