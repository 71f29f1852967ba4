// Writes a subtitle next to its film, under a name that scans recognise.
import { createHash } from 'node:crypto';
import { dirname, posix, resolve } from 'node:path';
import { insertSidecar } from '#areas/libraries/public.ts';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { storageUnavailable } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { type Placed, placeFile } from '#platform/place-file.ts';
import type { Film } from '../film.ts';
import type { KeptText } from '../kept/kept.store.ts';

const USABLE = ['available', 'degraded'];
const READ_ONLY = new Set(['EROFS', 'EACCES', 'EPERM']);
/** Longest name that file systems take. */
const MOST_NAME_BYTES = 255;
const LANGUAGE = /^[a-z0-9-]{1,35}$/i;
const MOST_NUMBER = 99;

/** What a subtitle is written as. */
export interface Marks {
  language: string;
  forced: boolean;
  hearingImpaired: boolean;
}

const readOnly = () => conflict('read-only-storage', 'The storage of the film is not written to');

/** The folder of a film, to write in. Throws 409 `read-only-storage`, and 423 when the storage is unavailable. */
export async function writableFolder(call: Call, film: Film): Promise<string> {
  const { db, deps } = call;
  const storage = (await findStorages(db, [film.storageId])).get(film.storageId);
  if (!storage || !USABLE.includes(storage.state))
    throw storageUnavailable(call, film.storageId, storage?.state ?? 'unreachable');
  const root = deps.config.mediaRoots.find(({ name }) => name === storage.rootName);
  if (storage.readOnly || root?.readOnly) throw readOnly();
  const place = await placeInStorage(deps.config, storage, posix.dirname(film.path));
  if (place.kind !== 'there') throw storageUnavailable(call, film.storageId, 'unreachable');
  return place.absolute;
}

interface Written {
  /** Inside the storage. */
  path: string;
  title: string | undefined;
  modifiedMs: number;
  /** The same bytes were there already. */
  same: boolean;
}

/** Writes the text under the first free name. A file that exists stays as it is. Throws 409 for a name that cannot be. */
export async function writeSidecar(
  directory: string,
  film: Film,
  { text, marks }: { text: KeptText; marks: Marks },
): Promise<Written> {
  const sha256 = createHash('sha256').update(text.bytes).digest('hex');
  for (let number = 1; number <= MOST_NUMBER; number += 1) {
    const name = nameOf(film, { marks, number, format: text.format });
    if (dirname(resolve(directory, name)) !== resolve(directory)) throw unnamable();
    const placed = await placeFile({
      ...{ directory, name, bytes: text.bytes },
      isOwn: async (found) => found === sha256,
      announce: async () => undefined,
    }).catch(refuseReadOnly);
    if (placed.kind !== 'foreign') return writtenAs(film, { name, number, placed });
  }
  throw conflict('name', 'Every name next to the film is taken');
}

function refuseReadOnly(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  throw READ_ONLY.has(code) ? readOnly() : error;
}

function writtenAs(
  film: Film,
  { name, number, placed }: { name: string; number: number; placed: Exclude<Placed, { kind: 'foreign' }> },
): Written {
  return {
    path: posix.join(posix.dirname(film.path), name),
    title: number === 1 ? undefined : String(number),
    ...{ modifiedMs: placed.modifiedMs, same: placed.kind === 'same' },
  };
}

const unnamable = () => conflict('name', 'The subtitle can have no name next to the film');

/** `<video>.<language>[.forced][.sdh][.<number>].<ext>`, with the whole name of the video: scans match no part of it. */
function nameOf(
  film: Film,
  { marks, number, format }: { marks: Marks; number: number; format: KeptText['format'] },
): string {
  const { language, forced, hearingImpaired } = marks;
  if (!LANGUAGE.test(language)) throw unnamable();
  const stem = posix.basename(film.path, posix.extname(film.path));
  const parts = [stem, language, forced && 'forced', hearingImpaired && 'sdh', number > 1 && String(number), format];
  const name = parts.filter((part) => part !== false).join('.');
  if (Buffer.byteLength(name) > MOST_NAME_BYTES) throw unnamable();
  return name;
}

const CODECS = { srt: 'subrip', vtt: 'webvtt', ass: 'ass' } as const;

/** The stream of a written file, as a scan would add it, with where it came from. Returns its id. */
export async function addSidecar(
  call: Call,
  film: Film,
  made: { written: Written; text: KeptText; marks: Marks; provider: string; providerFile: string },
): Promise<string> {
  const { written, text, marks } = made;
  const id = await insertSidecar(call.db, {
    ...{ fileId: film.fileId, path: written.path, codec: CODECS[text.format], title: written.title, ...marks },
    ...{ size: text.bytes.length, modifiedMs: written.modifiedMs },
  });
  const sha256 = createHash('sha256').update(text.bytes).digest('hex');
  const origin = { file_id: film.fileId, provider: made.provider, provider_file: made.providerFile, sha256 };
  await call
    .db('subtitle_origins')
    .insert({ stream_id: id, ...origin })
    .onConflict('stream_id')
    .merge(origin);
  return id;
}
