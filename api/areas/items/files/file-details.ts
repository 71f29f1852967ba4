import type { Principal } from '#identity/principal.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import type { FileDetail, MediaStream } from '../media.schemas.ts';
import { listChapters } from '../relations/relations.store.ts';
import { type FileRow, findFileRows, findStreams, toMediaFile } from './files.store.ts';

export interface FileView {
  who: Principal;
  /** With library:manage: include storage, folder and path. */
  paths: boolean;
  /** Include the location of photos. */
  place: boolean;
  include: readonly string[];
}

/** All technical data of an item's files, preferred one first; with `fileId` of that file only. */
export async function findFileDetails(
  db: Db,
  { itemId, fileId }: { itemId: string; fileId?: string },
  view: FileView,
): Promise<FileDetail[]> {
  const all = await findFileRows(db, [itemId], { whole: true });
  const rows = fileId === undefined ? all : all.filter((row) => row.id === fileId);
  const streams = view.include.includes('streams')
    ? await findStreams(db, view.who, rows)
    : new Map<string, MediaStream[]>();
  const analyses = await findAnalyses(db, rows);
  const details = rows.map((row) => ({
    ...toFileDetail(row, streams.get(row.id) ?? [], view),
    analyses: analyses.get(row.id) ?? [],
  }));
  if (!view.include.includes('chapters')) return details;
  return Promise.all(details.map(async (detail) => ({ ...detail, chapters: await listChapters(db, detail.id) })));
}

async function findAnalyses(db: Db, files: readonly FileRow[]): Promise<Map<string, FileDetail['analyses']>> {
  const ids = files.map(({ id }) => id);
  const rows = await db('analyses').whereIn('file_id', ids).orderBy('name').select('file_id', 'name', 'state', 'at');
  const entries = rows.map(({ file_id: id, name, state, at }) => ({ id, name, state, at: at.toISOString() }));
  return new Map(ids.map((id) => [id, entries.filter((one) => one.id === id).map(({ id: _id, ...rest }) => rest)]));
}

function toFileDetail(row: FileRow, streams: MediaStream[], view: FileView): Omit<FileDetail, 'analyses'> {
  const { probe } = row;
  return {
    ...toMediaFile(row, streams),
    ...(row.edition ? { editionLabel: row.edition } : {}),
    ...(row.part === null ? {} : { part: row.part }),
    ...(row.parts === null ? {} : { parts: row.parts }),
    chaptersCount: row.chapters,
    attachments: attachmentsOf(probe),
    embedded: embeddedOf(probe, view.place),
    probedAt: iso(row.probed_at),
    keyframeIndex: row.has_keyframes,
    ...(view.paths ? whereabouts(row) : {}),
    ...(view.include.includes('probe') && probe ? { rawProbe: { ...probe } } : {}),
  };
}

function whereabouts(row: FileRow): Partial<FileDetail> {
  return {
    storageId: row.storage_id,
    folderId: row.folder_id,
    path: row.path,
    modifiedAt: new Date(row.modified_ms).toISOString(),
    ...(row.sampled_hash
      ? {
          hashes: {
            sampled: row.sampled_hash.toString('hex'),
            ...(row.content_hash ? { content: row.content_hash.toString('hex') } : {}),
          },
        }
      : {}),
  };
}

function attachmentsOf(probe: ProbedFile | null): FileDetail['attachments'] {
  const attached = (probe?.streams ?? []).filter((stream) => stream.kind === 'attachment');
  return attached.map((stream) => ({
    name: stream.fileName ?? '',
    mime: stream.mime ?? 'application/octet-stream',
    sizeBytes: 0,
  }));
}

const PAIRS = 200;
const CHARACTERS = 32 * 1024;
const PLACE = /gps|location|latitude|longitude|^coordinates$/i;

/** Tags of the file within the size limits; location tags only when the caller may see the location. */
export function embeddedOf(probe: Pick<ProbedFile, 'tags'> | null, place: boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  let size = 0;
  for (const [key, value] of Object.entries(probe?.tags ?? {}).slice(0, PAIRS)) {
    size += key.length + value.length;
    if (size > CHARACTERS) break;
    if (place || !PLACE.test(key)) kept[key] = value;
  }
  return kept;
}
