import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type ImageRef, iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { programsById } from '../guide/guide.ts';
import type { LiveProgram } from '../guide/programs.schemas.ts';
import type { Recording } from './recordings.schemas.ts';
import type { RecordingRow, StoredConflict } from './recordings.store.ts';

type Viewer = Pick<Call, 'db' | 'who'>;

/** Recordings as the API answers them, in the order of the rows. The caller must have checked that they are visible. */
export async function toRecordings(call: Viewer, rows: readonly RecordingRow[]): Promise<Recording[]> {
  const alternatives = [...new Set(rows.flatMap(({ conflict }) => conflict?.alternatives ?? []))];
  const items = await shownItems(call, rows);
  const programs = await programsById(call, alternatives);
  return rows.map((row) => ({
    ...toRecording(row, call.who.accountId),
    ...itemOf(row, items),
    ...(row.state === 'conflict' && row.conflict && { conflict: toConflict(row.conflict, programs) }),
  }));
}

interface ShownItem {
  id: string;
  poster: ImageRef | null;
  thumb: ImageRef | null;
  logo: ImageRef | null;
}

/** The items of the recordings and of their channels that the caller sees. */
async function shownItems({ db, who }: Viewer, rows: readonly RecordingRow[]): Promise<Map<string, ShownItem>> {
  const ids = [...new Set(rows.flatMap(({ item_id, channel_id }) => [item_id, channel_id]))].filter(
    (id) => id !== null,
  );
  const items: ShownItem[] = await db('items as i')
    .modify(onlyVisibleItems, who, 'i')
    .whereRaw('i.id = any(?::uuid[])', [ids])
    .select('i.id', ...picturesOf(db));
  return new Map(items.map((item) => [item.id, item]));
}

const picturesOf = (db: Db) => ['poster', 'thumb', 'logo'].map((name) => db.raw(`i.artwork -> '${name}' as ${name}`));

function itemOf(row: RecordingRow, items: ReadonlyMap<string, ShownItem>): Pick<Recording, 'itemId' | 'image'> {
  const item = row.item_id === null ? undefined : items.get(row.item_id);
  const channel = row.channel_id === null ? undefined : items.get(row.channel_id);
  const image = item?.poster ?? item?.thumb ?? channel?.logo;
  return { ...(item && { itemId: item.id }), ...(image && { image }) };
}

function toRecording(row: RecordingRow, accountId: string): Recording {
  return {
    ...{ id: row.id, channelName: row.channel_name, title: row.title },
    ...given({
      ...{ channelId: row.channel_id, programId: row.program_id, ruleId: row.rule_id },
      ...{ episodeTitle: row.episode_title, seasonNumber: row.season_number, episodeNumber: row.episode_number },
      ...{ stateReason: row.state_reason, ownerUserId: row.account_id, folderId: row.folder_id },
      ...{ keepDays: row.keep_days, tunerId: row.tuner_id },
    }),
    ...{ startAt: iso(row.start_at), endAt: iso(row.end_at) },
    ...{ startPadMs: row.start_pad_ms, endPadMs: row.end_pad_ms, state: row.state, priority: row.priority },
    ...{ mine: row.account_id !== null && row.account_id === accountId, libraryId: row.library_id },
    recordedMs: row.recorded_ms,
    ...(row.started_at && { sizeBytes: row.size_bytes }),
    gaps: row.gaps.map(({ from, to }) => ({ from, to })),
    ...{ createdAt: iso(row.created_at), updatedAt: iso(row.updated_at) },
  };
}

const given = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as never;

function toConflict(
  { alternatives, ...conflict }: StoredConflict,
  programs: ReadonlyMap<string, LiveProgram>,
): Recording['conflict'] {
  return { ...conflict, alternatives: alternatives.flatMap((id) => programs.get(id) ?? []) };
}
