import { type LibraryRow, listVisibleLibraries } from '#areas/items/public.ts';
import { onlyShownCollections } from '#identity/collection-sight.ts';
import type { Call } from '#kernel/endpoint.ts';
import { builtInRows } from './built-in.ts';
import { type HomeLayout, type LayoutRow, rowKinds } from './layout.schemas.ts';
import { findLayouts, type LayoutRecord } from './layouts.store.ts';

export interface LayoutInForce {
  layout: HomeLayout;
  /** Visible libraries that are shown on Home. */
  libraries: LibraryRow[];
  /** All libraries that the caller may see. */
  visible: LibraryRow[];
}

/** The layout that holds for a profile (its own, else the server's, else the built-in one), or for the server. */
export async function layoutInForce(call: Call, scope: HomeLayout['scope'] = 'profile'): Promise<LayoutInForce> {
  const { db, who } = call;
  const [{ own, server }, visible] = await Promise.all([
    findLayouts(db, scope === 'profile' ? who.profileId || null : null),
    listVisibleLibraries(db, who),
  ]);
  const stored = own ?? server;
  const hidden = new Set(stored?.document.hiddenLibraryIds ?? []);
  const libraries = visible.filter(({ id, settings }) => isOnHome(settings) && !hidden.has(id));
  const all = toLayout({ scope, own, server }, libraries);
  const seen = all.source === 'server' ? withoutUnseen(all, visible) : all;
  const layout = await withoutHiddenCollections(call, seen);
  return { layout, libraries, visible };
}

/** The server's layout as a profile may know it: without libraries that it does not see, and without rows of these alone. */
function withoutUnseen(layout: HomeLayout, visible: readonly LibraryRow[]): HomeLayout {
  const seen = new Set(visible.map(({ id }) => id));
  const rows = layout.rows.flatMap((row): LayoutRow[] => {
    const wanted = row.source?.libraryIds;
    if (!wanted) return [row];
    const libraryIds = wanted.filter((id) => seen.has(id));
    return libraryIds.length === 0 ? [] : [{ ...row, source: { ...row.source, libraryIds } }];
  });
  return { ...layout, rows, hiddenLibraryIds: layout.hiddenLibraryIds.filter((id) => seen.has(id)) };
}

/** Without rows of collections that are gone, or that the profile does not see. */
async function withoutHiddenCollections({ db, who }: Call, layout: HomeLayout): Promise<HomeLayout> {
  const ids = layout.rows.flatMap(({ source }) => source?.collectionId ?? []);
  if (ids.length === 0) return layout;
  const shown = await db
    .from('collections as c')
    .modify(onlyShownCollections, who)
    .whereRaw('c.id = any(?::uuid[])', [ids])
    .pluck<string[]>('c.id');
  const isShown = ({ source }: LayoutRow): boolean =>
    source?.collectionId === undefined || shown.includes(source.collectionId);
  return { ...layout, rows: layout.rows.filter(isShown) };
}

const isOnHome = (settings: unknown): boolean => (settings as { onHome?: boolean }).onHome !== false;

interface Stored {
  scope: HomeLayout['scope'];
  own: LayoutRecord | undefined;
  server: LayoutRecord | undefined;
}

function toLayout({ scope, own, server }: Stored, libraries: readonly LibraryRow[]): HomeLayout {
  const stored = own ?? server;
  if (!stored)
    return { scope, source: 'built-in', rows: builtInRows(libraries), hiddenLibraryIds: [], hero: 'off', revision: 0 };
  const { hiddenLibraryIds, hero } = stored.document;
  const rows = stored.document.rows.filter(({ kind }) => rowKinds.includes(kind)); // a later version may know more
  const isOwn = scope === 'server' || own !== undefined;
  return {
    ...{ scope, source: isOwn ? 'own' : 'server', rows, hiddenLibraryIds, hero },
    // a layout that is stored below has not been edited for this scope
    revision: isOwn ? stored.revision : 0,
    ...(stored.managed_by && scope === 'server' && { managedBy: stored.managed_by }),
    updatedAt: stored.updated_at.toISOString(),
  };
}

/** The id of the row of the whole screen's picture. */
export const HERO_ID = 'hero';

/** Every row of a layout, the hero too. */
export function rowsOf({ rows, hero }: HomeLayout): LayoutRow[] {
  if (hero === 'off') return rows;
  return [{ rowId: HERO_ID, kind: 'hero', style: 'hero', size: 6, hideWatched: false }, ...rows];
}
