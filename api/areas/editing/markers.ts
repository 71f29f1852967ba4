import type { VisibleItem } from '#areas/items/public.ts';
import { type AnalysisName, analyses, analysesOf, switchesOf } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import type { ItemMarkers, Marker, MarkerKind, MarkersChange } from './markers.schemas.ts';
import { countMarkers, markedFiles, readMarkers, replaceMarkers, touchMarked } from './markers.store.ts';

const KINDS: readonly { kind: 'intro' | 'credits'; name: AnalysisName }[] = [
  { kind: 'intro', name: 'introDetection' },
  { kind: 'credits', name: 'creditsDetection' },
];

export async function markersOf(call: Call, item: VisibleItem, fileId: string | undefined): Promise<ItemMarkers> {
  const { db } = call;
  if (item.container) return { items: [], analyses: [], episodes: await countMarkers(db, call.who, item.id) };
  const files = await markedFiles(db, { itemId: item.id, fileId });
  if (fileId !== undefined && files.length === 0) throw notFound();
  return { items: await readMarkers(db, files), analyses: await statesOf(call, item, files) };
}

type Files = readonly { id: string; locked: boolean }[];
type States = ItemMarkers['analyses'];

/** Of several files the least advanced state. */
const ORDER = ['queued', 'none', 'not-found', 'done'] as const;

async function statesOf({ db, deps }: Call, item: VisibleItem, files: Files): Promise<States> {
  const switches = switchesOf({ type: item.libraryType, settings: item.librarySettings }, deps.settings);
  const found = await analysesOf(
    db,
    files.map(({ id }) => id),
  );
  return KINDS.flatMap(({ kind, name }): States => {
    const one = switches.find((entry) => entry.name === name);
    if (!one || !analyses[name].itemTypes?.includes(item.type)) return [];
    if (one.off || (files.length > 0 && files.every(({ locked }) => locked))) return [{ kind, state: 'off' }];
    const own = found.filter((row) => row.name === name);
    const states = files.map(({ id }) => own.find((row) => row.fileId === id)?.state ?? ('none' as const));
    const state = ORDER.find((entry) => states.includes(entry)) ?? 'none';
    const at = own.find((row) => row.state === state)?.at;
    return [{ kind, state, ...(at && { at: at.toISOString() }) }];
  });
}

const REPEATABLE: readonly MarkerKind[] = ['commercial', 'highlight'];

/** 400 for a marker that ends before it starts or after the film, and for two of a kind that may not be. */
function refuseUnfit(markers: MarkersChange['markers'], durationMs: number): void {
  for (const [i, { kind, startMs, endMs }] of markers.entries()) {
    const path = ['body', 'markers', i];
    if (endMs <= startMs) throw invalid(path, 'marker_ends_early', 'a marker ends after it starts');
    if (endMs > durationMs) throw invalid(path, 'marker_outside', 'a marker lies within the duration of its file');
    const others = markers.slice(0, i).filter((one) => one.kind === kind);
    if (others.length > 0 && !REPEATABLE.includes(kind))
      throw invalid(path, 'marker_repeated', 'a file has at most one marker of this kind');
    if (others.some((one) => one.startMs < endMs && startMs < one.endMs))
      throw invalid(path, 'marker_overlaps', 'markers of one kind do not overlap');
  }
}

export async function changeMarkers(call: Call, item: VisibleItem, change: MarkersChange): Promise<Marker[]> {
  const { db } = call;
  const [file] = await markedFiles(db, { itemId: item.id, fileId: change.fileId });
  if (!file) throw invalid(['body', 'fileId'], 'unknown_file', 'the item has no such file');
  refuseUnfit(change.markers, file.durationMs);
  const before = await readMarkers(db, [file]);
  const changed = await replaceMarkers(db, item.id, change);
  const after = await readMarkers(db, [{ ...file, locked: change.lock }]);
  if (changed || file.locked !== change.lock) {
    await audit(call, 'item.markers', { itemId: item.id, fileId: file.id, before, after });
    const { payload, facts } = await touchMarked(db, item.id);
    await call.emit('item.updated', payload, facts);
  }
  return after;
}
