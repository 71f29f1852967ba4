import {
  type FingerprintKind,
  kindsFor,
  MOST_DISTANCE,
  nearHashes,
  nextFileDue,
  type Print,
  putOffFile,
  queueFingerprints,
  savePairs,
  savePrint,
  type TakenFile,
  takeFile,
} from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { type FileSource, findSource } from '#areas/streaming/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ParserUnavailable } from '#platform/pictures.ts';
import { Postponed, type Work } from '../work.ts';
import { contentOf } from './content.ts';
import { imageHash } from './image.ts';
import { soundDistance, soundPrint } from './sound.ts';
import { videoHash } from './video.ts';

const STORAGE_MINUTES = 10;
const PARSER_MINUTES = 1;
/** A file that took its worker along so often is passed over. */
const MOST_TRIES = 3;

/**
 * Makes the fingerprints that wait, one checkpoint a file, and compares each with the others. Without a library it first
 * queues what all of them lack.
 */
export async function makeFingerprints(
  { libraryId }: JobPayload<'library.fingerprint'>,
  work: Work,
): Promise<{ made: number }> {
  if (libraryId === undefined) await queueEverywhere(work);
  for (let made = 0; ; ) {
    work.signal.throwIfAborted();
    const taken = await takeFile(work.db, { libraryId, jobId: work.jobId });
    if (!taken) {
      const next = await nextFileDue(work.db, libraryId);
      if (!next) return { made };
      throw new Postponed(new Date(Math.max(next.due.getTime(), Date.now() + 1000)), 'storage');
    }
    if (!(await fingerprintOne(work, taken))) continue;
    made += 1;
    const left = await nextFileDue(work.db, libraryId);
    await work.keep(work.db, { made }, { done: made, total: made + (left?.waiting ?? 0), unit: 'files' });
  }
}

/** Only kinds that were made in the library before: the first request is a person's. */
async function queueEverywhere({ db }: Work): Promise<void> {
  const libraries = await db('libraries').whereNull('deleted_at').select('id', 'type');
  for (const { id, type } of libraries) {
    const before = await db('fingerprints as p')
      .join('media_files as m', 'm.id', 'p.file_id')
      .where('m.library_id', id)
      .distinct('p.kind')
      .pluck('p.kind');
    const kinds = kindsFor(type).filter((kind) => (before as readonly string[]).includes(kind));
    for (const kind of kinds) await queueFingerprints(db, id, { kind, redo: false });
  }
}

/** False for a file that waits. */
async function fingerprintOne(work: Work, taken: TakenFile): Promise<boolean> {
  try {
    const print = taken.tries < MOST_TRIES ? await printOf(work, taken) : undefined;
    if (print === 'unavailable') await putOffFile(work.db, taken, STORAGE_MINUTES);
    else await keepPrint(work, taken, print);
    return print !== 'unavailable';
  } catch (error) {
    if (!(error instanceof ParserUnavailable || work.signal.aborted)) throw error;
    await putOffFile(work.db, taken, work.signal.aborted ? 0 : PARSER_MINUTES);
    work.signal.throwIfAborted();
    return false;
  }
}

/** Undefined for a file that is gone or has no such fingerprint. */
async function printOf(work: Work, { fileId, kind }: TakenFile): Promise<Print | 'unavailable' | undefined> {
  const source = await findSource(work.db, fileId);
  if (!source) return undefined;
  const place = await openMedia(work, source);
  if (place.kind === 'unavailable') return 'unavailable';
  return place.kind === 'there' ? makers[kind](work, source, place.absolute) : undefined;
}

/** Undefined for a file that has no such fingerprint. */
type Maker = (work: Work, source: FileSource, file: string) => Promise<Print | undefined>;

const makers: Readonly<Record<FingerprintKind, Maker>> = {
  content: contentOf,
  image: imageHash,
  video: videoHash,
  audio: soundPrint,
};

/** The print, and the pairs that it is one of. */
async function keepPrint({ db }: Work, taken: TakenFile, made: Print | undefined): Promise<void> {
  await db.transaction(async (inside) => {
    await savePrint(inside, taken, made);
    if (made?.hash === undefined) return;
    const { print } = made;
    const near = await nearHashes(inside, taken, made.hash);
    const measured = near.map(({ fileId, distance, print: other }) => ({
      ...{ fileId, distance: print && other ? soundDistance(print, other) : distance },
    }));
    await savePairs(
      inside,
      taken,
      measured.filter(({ distance }) => distance <= MOST_DISTANCE),
    );
  });
}
