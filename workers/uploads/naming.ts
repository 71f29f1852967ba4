// Where an upload goes in its folder: by the date of the photo, by an album, or by its partner.
import { dirname } from 'node:path';
import { cleanName, extensionOf, numbered, type UploadFolder, type UploadRow } from '#areas/uploads/public.ts';
import { ProbeError, probeFile } from '../probe/probe.ts';
import type { Work } from '../work.ts';
import { Unfit } from './arrive.ts';
import { type Partner, stemOf } from './partner.ts';

/** The storage of the folder cannot be written now. */
export class StorageGone extends Error {}
/** The storage is there, and does not hold the bytes that arrived: it changed or lost them, or they are damaged in the object store. */
export class Changed extends Error {}
/** The upload was cancelled meanwhile. */
export class Cancelled extends Error {}

/**
 * A file that an upload placed stays its file when the storage changes it: with another name it would be changed again, and each time
 * be one file more. Throws `Changed` when it is not there.
 */
export function requireKept(isThere: boolean): true {
  if (!isThere) throw new Changed('the storage lost the file');
  return true;
}

export interface Wanted {
  /** Directory of an album, in the storage. */
  album?: string | undefined;
  partner?: Partner | undefined;
}

export interface Named {
  /** In the storage. */
  directory: string;
  name: string;
}

/** The path of a try: the name, then the name with -2, -3 and so on. */
export const pathOf = ({ directory, name }: Named, at: number): string =>
  [directory, numbered(name, at)].filter(Boolean).join('/');

/** `place` is the path or the address of the file's bytes. Throws `Unfit` for a file that is no photo or film. */
export async function nameOf(
  work: Work,
  row: UploadRow,
  { folder, wanted, place }: { folder: UploadFolder; wanted: Wanted; place: string },
): Promise<Named> {
  const taken = await takenOf(work, row, place);
  const name = cleanName(row.name) ?? row.id;
  const { album, partner } = wanted;
  if (partner?.path && partner.folder_id === folder.id) {
    const [stem, directory] = [stemOf(partner.path.split('/').at(-1) ?? ''), dirname(partner.path)];
    return { directory: directory === '.' ? '' : directory, name: `${stem}.${extensionOf(name)}` };
  }
  const directory = album ?? [folder.path, taken.year, taken.month].filter(Boolean).join('/');
  return { directory, name };
}

/** Year and month in which a photo was taken: by itself, as announced, or as the file was changed. */
async function takenOf(work: Work, row: UploadRow, place: string): Promise<{ year: string; month: string }> {
  const local = extensionOf(row.name) === 'xmp' ? undefined : await cameraTime(work, place);
  const announced = row.taken_at ?? row.modified_at ?? row.created_at;
  const [, year = '0000', month = '00'] = /^(\d{4})-(\d{2})/.exec(local ?? announced.toISOString()) ?? [];
  return { year, month };
}

/** The time by the clock of the camera. Throws `Unfit` for a file that is no photo or film. */
async function cameraTime({ signal }: Work, place: string): Promise<string | undefined> {
  try {
    return (await probeFile(place, { as: 'photo', signal })).file.photo?.takenLocal;
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    throw new Unfit(error.fault === 'not-media' ? 'not-a-photo' : 'corrupt');
  }
}
