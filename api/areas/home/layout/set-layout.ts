import { listVisibleLibraries } from '#areas/items/public.ts';
import { emitState } from '#areas/playback/public.ts';
import { requirePermission } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { readers } from '../rows/kinds.ts';
import { checkSource } from '../rows/lists.ts';
import { HERO_ID, layoutInForce } from './in-force.ts';
import type { HomeLayout, LayoutChange, LayoutRow } from './layout.schemas.ts';
import {
  deleteLayout,
  findLayout,
  type LayoutDocument,
  type LayoutRecord,
  lockLayout,
  writeLayout,
} from './layouts.store.ts';

const MOST_BYTES = 32_768;

/** Stores or removes a layout. Throws 400, 403, 404, and 409 `revision` and `managed-by-resource`. */
export async function setLayout(call: Call, change: LayoutChange): Promise<HomeLayout> {
  const { db, who } = call;
  const { scope } = change;
  requireScope(call, change);
  const profileId = scope === 'server' ? null : who.profileId;
  await lockLayout(db, profileId);
  const before = await findLayout(db, profileId);
  refuseStale(call, before, change);
  const document = await documentOf(call, change);
  if (change.validateOnly) return validated(call, change, document);
  await store(call, change, { profileId, before, document });
  return (await layoutInForce(call, scope)).layout;
}

interface Storing {
  profileId: string | null;
  before: LayoutRecord | undefined;
  document: LayoutDocument | undefined;
}

async function store(call: Call, change: LayoutChange, { profileId, before, document }: Storing): Promise<void> {
  const { db } = call;
  if (document) {
    const kept = change.managedBy === undefined ? (before?.managed_by ?? null) : change.managedBy;
    await writeLayout(db, { profileId, document, managedBy: kept });
  } else await deleteLayout(db, profileId);
  if (profileId === null) {
    await audit(call, 'home.layout', { before: before?.document ?? null, after: document ?? null });
    await call.emit('settings.changed', { keys: ['home.layout'] });
  } else await emitState(call, { what: ['preferences'], itemIds: [] });
}

function requireScope({ who }: Call, { scope, managedBy }: LayoutChange): void {
  if (scope === 'server') requirePermission(who, 'settings:manage');
  else {
    requireAllowed(who, 'homeLayout');
    if (!who.profileId) throw new ApiError('FORBIDDEN', 'This key has no profile', { by: 'api-key' });
  }
  if (managedBy !== undefined && (scope !== 'server' || !who.operator))
    throw new ApiError('FORBIDDEN', 'Only the operator declares layouts', { by: 'operator' });
}

function refuseStale({ who }: Call, before: LayoutRecord | undefined, { revision }: LayoutChange): void {
  if (before?.managed_by && !who.operator)
    throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { managedBy: before.managed_by });
  const current = before?.revision ?? 0;
  if (revision !== undefined && revision !== current)
    throw conflict('revision', 'Another device saved a layout meanwhile', { revision: current });
}

/** The document to store; undefined for a change that removes the layout. */
async function documentOf(
  call: Call,
  { scope, rows, hiddenLibraryIds, hero }: LayoutChange,
): Promise<LayoutDocument | undefined> {
  if (rows === null) return undefined;
  const { layout } = await layoutInForce(call, scope);
  const document: LayoutDocument = {
    rows: rows.map((row): LayoutRow => ({ ...row, rowId: row.rowId ?? newId() })),
    hiddenLibraryIds: hiddenLibraryIds ?? layout.hiddenLibraryIds,
    hero: hero ?? layout.hero,
  };
  await refuseUnfit(call, document.rows, layout);
  if (Buffer.byteLength(JSON.stringify(document)) > MOST_BYTES)
    throw invalid(['body', 'rows'], 'too_big', 'a layout has at most 32 KiB');
  await requireLibraries(call, librariesIn(document).difference(librariesIn(layout)));
  return document;
}

const librariesIn = ({ rows, hiddenLibraryIds }: LayoutDocument): Set<string> =>
  new Set([...hiddenLibraryIds, ...rows.flatMap(({ source }) => source?.libraryIds ?? [])]);

/**
 * Throws 400 for equal ids, missing or unreadable sources, and styles that the kind does not have. A source that the
 * layout in force has already may be unreadable by now: its row stays, and is not shown.
 */
async function refuseUnfit(call: Call, rows: readonly LayoutRow[], before: HomeLayout): Promise<void> {
  const kept = new Set(before.rows.map(sourceText));
  const seen = new Set([HERO_ID]);
  for (const [i, row] of rows.entries()) {
    if (seen.has(row.rowId)) throw invalid(['body', 'rows', i, 'rowId'], 'duplicate', 'another row has this id');
    seen.add(row.rowId);
    refuseShape(row, i);
    if (!kept.has(sourceText(row))) await checkSource(call, row);
  }
}

const sourceText = ({ kind, source }: LayoutRow): string =>
  JSON.stringify([kind, source?.filter, source?.sort, source?.genre, source?.collectionId, source?.filterId]);

function refuseShape({ kind, style, source }: LayoutRow, i: number): void {
  const reader = readers[kind];
  const at = ['body', 'rows', i];
  const missing = reader?.needs?.find((need) => source?.[need] === undefined);
  if (missing) throw invalid([...at, 'source', missing], 'required', `${kind} needs it`);
  if (style && reader && !reader.styles.includes(style))
    throw invalid([...at, 'style'], 'unknown_style', `${kind} is shown as ${reader.styles.join(', ')}`);
}

/** Throws 404 for a library that the caller cannot see. */
async function requireLibraries({ db, who }: Call, wanted: ReadonlySet<string>): Promise<void> {
  if (wanted.size === 0) return;
  const found = await listVisibleLibraries(db, who, [...wanted]);
  if (found.length < wanted.size) throw notFound();
}

async function validated(
  call: Call,
  { scope }: LayoutChange,
  document: LayoutDocument | undefined,
): Promise<HomeLayout> {
  const { layout } = await layoutInForce(call, scope);
  return document ? { ...layout, ...document, source: 'own' } : layout;
}
