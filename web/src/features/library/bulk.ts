// Own marks on a selection: reports of at most 500 items a request, or one selection of all that match.
import type { SyncPlaybackBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate } from '#core/cache/query.ts';
import { printFilter } from '#core/filter/parse.ts';
import { holds, type Selection, sizeOf } from '#core/geometry/selection.ts';
import { type Chosen, MOST_IDS } from '#features/bulk/requests.ts';
import { applyPatches } from '#features/item/patch.ts';
import * as m from '#messages/library.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import type { Listing } from './listing.svelte.ts';
import type { State } from './view.ts';

export type Mark = { watched: boolean } | { favorite: boolean };

const MOST = 500;

/** A UUID of version 4; crypto.randomUUID is absent on plain http. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((one) => one.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

function bodiesOf(selection: Selection, mark: Mark, libraryId: string, state: State): SyncPlaybackBody[] {
  if (selection.kind === 'all') {
    const filter = printFilter(state.filter);
    const chosen = { libraryId, except: [...selection.except], expect: selection.total };
    const narrow = { ...(filter && { filter }), ...(state.type && { type: [state.type] }) };
    return [{ select: { ...chosen, ...narrow }, set: mark }];
  }
  const at = new Date().toISOString();
  const reports = [...selection.ids].map((itemId) => ({ clientEventId: uuid(), itemId, at, ...mark }));
  return Array.from({ length: Math.ceil(reports.length / MOST) }, (_, part) => ({
    reports: reports.slice(part * MOST, (part + 1) * MOST),
  }));
}

/** Returns whether every request succeeded. */
export async function markSelection(
  selection: Selection,
  mark: Mark,
  { libraryId, state, ids }: { libraryId: string; state: State; ids: readonly string[] },
): Promise<boolean> {
  let matched = 0;
  let waits = false;
  try {
    for (const body of bodiesOf(selection, mark, libraryId, state)) {
      const answer = await api.syncPlayback({ body });
      matched += answer.matched ?? answer.results.filter(({ outcome }) => outcome === 'applied').length;
      waits ||= answer.jobId !== undefined;
    }
  } catch (error) {
    toast.show({ text: m.notSaved({ reason: failureText(problemOf(error)).title }) });
    return false;
  }
  applyPatches(new Map(ids.map((id) => [id, 'watched' in mark && mark.watched ? { ...mark, progress: 0 } : mark])));
  toast.show({ text: waits ? m.marksWait({ count: matched }) : m.marked({ count: matched }) });
  for (const name of ['listItems', 'getLibraryFacets'] as const) void invalidate(name);
  return true;
}

/** The selected items for one request: their ids, or the filter when they are too many; undefined when that has gaps. */
export async function chosenOf(
  selection: Selection,
  { blocks, total }: Pick<Listing, 'blocks' | 'total'>,
  { libraryId, state }: { libraryId: string; state: State },
): Promise<Chosen | undefined> {
  const count = sizeOf(selection);
  if (count <= MOST_IDS) {
    const ids = await idsOf(selection, { blocks, total });
    return { count: ids.length, itemIds: ids };
  }
  if (selection.kind === 'some' || selection.except.size > 0) return undefined;
  const { type } = state;
  return { count, filter: { libraryId, ...(type && { type }), filter: printFilter(state.filter) } };
}

/** The ids of the selected items, read where they are not loaded yet. */
export async function idsOf(
  selection: Selection,
  { blocks, total }: Pick<Listing, 'blocks' | 'total'>,
): Promise<string[]> {
  if (selection.kind === 'some') return [...selection.ids];
  const items = await blocks.read(0, total, new AbortController().signal);
  return items.map(({ id }) => id).filter((id) => holds(selection, id));
}
