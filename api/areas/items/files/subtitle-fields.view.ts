import { isEditingAdmin, type Principal } from '#identity/principal.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { findSyncs, type Sync } from '#platform/subtitles/syncs.ts';
import type { Row } from '#platform/typed-query.ts';
import type { SubtitleFields, SubtitleSync } from '../media.schemas.ts';

/** For so long the person who fetched a subtitle may remove it. */
export const REMOVABLE_MS = 7 * 86_400_000;

const FORMATS: Readonly<Record<string, SubtitleFields['format']>> = {
  ...{
    subrip: 'srt',
    text: 'srt',
    mov_text: 'srt',
    webvtt: 'vtt',
    ass: 'ass',
    ssa: 'ass',
    pgs: 'pgs',
    vobsub: 'vobsub',
  },
  ...{ dvb_subtitle: 'dvb', dvbsub: 'dvb', dvb_teletext: 'teletext', eia_608: 'cea608' },
};
const PICTURES = ['pgs', 'vobsub', 'dvb', 'xsub'];
const ENDINGS: Readonly<Record<string, string>> = { subrip: 'srt', webvtt: 'vtt', ass: 'ass' };

/** The name that getSubtitleFile takes: of a sidecar file its own, of a kept text `<stream id>.<ext>`, else the index. */
export function subtitleFileName(
  row: Pick<SubtitleRow, 'id' | 'codec' | 'kept' | 'external_path' | 'stream_index'>,
): string {
  if (row.kept) return `${row.id}.${ENDINGS[row.codec] ?? 'srt'}`;
  return row.external_path?.split('/').at(-1) ?? String(row.stream_index);
}

type SubtitleRow = Pick<
  Row<'media_streams'>,
  'id' | 'file_id' | 'kind' | 'codec' | 'kept' | 'external_path' | 'stream_index'
>;
type Kept = Row<'kept_subtitles'>;

interface Facts {
  files: Map<string, Pick<Row<'media_files'>, 'id' | 'item_id' | 'added_at'>>;
  kept: Map<string, Kept>;
  syncs: Map<string, Sync>;
  names: Map<string, string>;
}

/** What subtitle streams have in addition, by stream. */
export async function findSubtitleFields(
  db: Db,
  who: Principal,
  rows: readonly SubtitleRow[],
): Promise<Map<string, SubtitleFields>> {
  const subtitles = rows.filter(({ kind }) => kind === 'subtitle');
  if (subtitles.length === 0) return new Map();
  const ids = subtitles.map(({ id }) => id);
  const files = await db('media_files')
    .whereRaw('id = any(?::uuid[])', [[...new Set(subtitles.map((row) => row.file_id))]])
    .select('id', 'item_id', 'added_at');
  const kept: Kept[] = subtitles.some((row) => row.kept)
    ? await db('kept_subtitles').whereRaw('stream_id = any(?::uuid[])', [ids]).select('*')
    : [];
  const syncs = await findSyncs(db, ids);
  const named = [...kept.map((row) => row.account_id), ...[...syncs.values()].map((sync) => sync.accountId)];
  const facts: Facts = {
    files: new Map(files.map((row) => [row.id, row])),
    kept: new Map(kept.map((row) => [row.stream_id, row])),
    syncs,
    names: await namesOf(db, who, named),
  };
  return new Map(subtitles.flatMap((row) => fieldsOf(row, who, facts)));
}

/** Names of these accounts that the caller may know. */
async function namesOf(db: Db, who: Principal, ids: readonly (string | null)[]): Promise<Map<string, string>> {
  const known = [...new Set(ids)].filter((id) => id !== null && (isEditingAdmin(who) || id === who.accountId));
  if (known.length === 0) return new Map();
  const rows = await db('accounts')
    .whereIn('id', known as string[])
    .select('id', 'display_name');
  return new Map(rows.map((row) => [row.id, row.display_name]));
}

function fieldsOf(row: SubtitleRow, who: Principal, facts: Facts): [string, SubtitleFields][] {
  const [file, sync] = [facts.files.get(row.file_id), facts.syncs.get(row.id)];
  if (!file || !sync) return [];
  const own = facts.kept.get(row.id);
  const format = FORMATS[row.codec] ?? 'other';
  const fields: SubtitleFields = {
    ...{ itemId: file.item_id, fileId: file.id, file: subtitleFileName(row), format },
    pictures: PICTURES.includes(format) || PICTURES.includes(row.codec),
    source: own?.source ?? (row.external_path === null ? 'embedded' : 'sidecar'),
    ...keptFields(own, facts.names),
    ...removalOf(own, who),
    sync: toSubtitleSync(sync, facts.names),
    addedAt: iso(own?.added_at ?? file.added_at),
  };
  return [[row.id, fields]];
}

/** Whether the caller may remove a text now, and until when the one who fetched it may. */
function removalOf(own: Kept | undefined, who: Principal): Pick<SubtitleFields, 'mayRemove' | 'removableUntil'> {
  if (own?.source !== 'fetched') return { mayRemove: false };
  const until = new Date(own.added_at.getTime() + REMOVABLE_MS);
  const isOwn = own.account_id === who.accountId && until.getTime() > Date.now();
  return { mayRemove: isOwn || isEditingAdmin(who), removableUntil: iso(until) };
}

function keptFields(own: Kept | undefined, names: ReadonlyMap<string, string>): Partial<SubtitleFields> {
  if (!own) return {};
  const by = named(names, own.account_id);
  const { provider, release, model, task, cue_count: cueCount } = own;
  const given = { provider, release, model, task };
  return {
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as object),
    ...(by && { by }),
    cueCount,
  };
}

function named(names: ReadonlyMap<string, string>, id: string | null | undefined): SubtitleFields['by'] {
  const displayName = names.get(id ?? '');
  return id && displayName !== undefined ? { userId: id, displayName } : undefined;
}

/** A correction as the API shows it. */
export function toSubtitleSync(sync: Sync, names: ReadonlyMap<string, string>): SubtitleSync {
  const setBy = named(names, sync.accountId);
  return {
    streamId: sync.streamId,
    offsetMs: sync.offsetMs,
    rate: sync.rate,
    pieces: sync.pieces.map(({ fromMs, offsetMs }) => ({ fromMs, offsetMs })),
    source: sync.source,
    ...(sync.confidence !== undefined && { confidence: sync.confidence }),
    version: sync.version,
    ...(setBy && { setBy }),
    ...(sync.setAt && { setAt: iso(sync.setAt) }),
  };
}
