// Sets and icons as the API shows them, built-in ones and rows alike.
import { may } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { type BuiltInIcon, builtInIcons, builtInSet, builtInSets, DEFAULT_SET } from './built-in/built-in.ts';
import { type IconSlot, iconSlots, nameOf, slotLabels } from './built-in/slots.ts';
import type { Icon, IconSet, WholeIconSet } from './icons.schemas.ts';
import { activeSetId, type IconRow, listIconRows, listSetRows, type SetRow } from './icons.store.ts';

type Caller = Pick<Call, 'db' | 'who'>;

const MADE_AT = '2026-11-27T00:00:00.000Z';
const PREVIEW = ['nav.home', 'library.movies', 'library.shows', 'library.music', 'library.photos', 'action.play']
  .concat('state.watched', 'rating.star')
  .map((slot) => slot as IconSlot);
export const BUILT_IN_SIZES = [24, 32, 48, 64, 96, 128, 256, 512];

export const urlOf = (id: string, version: number): string => `/api/v1/icons/${id}/image?v=${version}`;

export function toBuiltIn({ id, set, slot }: BuiltInIcon): Icon {
  return {
    id,
    setId: set.id,
    name: nameOf(slot),
    label: slotLabels[slot],
    slot,
    keywords: [],
    tintable: true,
    sourceKind: 'built-in',
    width: 512,
    height: 512,
    sizes: BUILT_IN_SIZES,
    version: 1,
    url: urlOf(id, 1),
    createdAt: MADE_AT,
    updatedAt: MADE_AT,
  };
}

export function toIcon(row: IconRow): Icon {
  const sizes = row.drawing === null ? [...new Set(row.parts.map(({ size }) => size))] : BUILT_IN_SIZES;
  return {
    id: row.id,
    setId: row.set_id,
    name: row.name,
    label: row.label,
    ...(row.slot && { slot: row.slot }),
    keywords: row.keywords,
    tintable: row.tintable,
    sourceKind: row.source_kind,
    width: row.width,
    height: row.height,
    sizes,
    version: row.version,
    url: urlOf(row.id, row.version),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

/** Adds how many libraries and types name each icon, for those who manage libraries. */
export async function withUses({ db, who }: Caller, icons: Icon[]): Promise<Icon[]> {
  if (!may(who, 'library:manage') || icons.length === 0) return icons;
  const ids = icons.map(({ id }) => id);
  const { rows } = await db.raw<{ rows: { id: string; n: number }[] }>(
    `select id, count(*)::int as n from (
       select icon as id from libraries where icon = any(?::text[]) and deleted_at is null
       union all select icon_id::text from library_types where icon_id = any(?::uuid[])) used group by id`,
    [ids, ids],
  );
  const counts = new Map(rows.map(({ id, n }) => [id, n]));
  return icons.map((icon) => ({ ...icon, inUse: counts.get(icon.id) ?? 0 }));
}

/** Visible libraries and the types that name one of these icons. */
export async function usersOf({ db, who }: Caller, ids: readonly string[]) {
  const libraries = await db('libraries')
    .modify(onlyVisibleLibraries, who)
    .whereIn('libraries.icon', ids)
    .select('libraries.id', 'libraries.name');
  const types = await db('library_types').whereIn('icon_id', ids).select('key', 'name');
  return { libraries, types };
}

interface SetCounts {
  set_id: string;
  icons: number;
  slots: number;
  preview: string[];
}

async function countsOf(db: Db): Promise<Map<string, SetCounts>> {
  const { rows } = await db.raw<{ rows: SetCounts[] }>(
    `select set_id, count(*)::int as icons, count(slot)::int as slots,
            (array_agg(id order by slot is null, name))[1:8] as preview from icons group by set_id`,
  );
  return new Map(rows.map((row) => [row.set_id, row]));
}

function builtInSetAs(id: string, active: boolean): IconSet | undefined {
  const set = builtInSet(id);
  if (!set) return undefined;
  const own = builtInIcons.filter((icon) => icon.set.id === id);
  return {
    id,
    name: set.name,
    description: set.description,
    source: 'built-in',
    author: 'Lucide Icons and Contributors',
    license: 'ISC',
    style: 'line',
    iconCount: own.length,
    slotsFilled: own.length,
    slotsTotal: iconSlots.length,
    active,
    preview: own.filter(({ slot }) => PREVIEW.includes(slot)).map((icon) => icon.id),
    revision: 1,
    createdAt: MADE_AT,
    updatedAt: MADE_AT,
  };
}

/** Texts that are absent when they are empty. */
function textsOf({ description, author, license }: SetRow): Partial<IconSet> {
  return Object.fromEntries(Object.entries({ description, author, license }).filter(([, text]) => text));
}

interface Shown {
  who: Call['who'];
  active: boolean;
  counts?: SetCounts | undefined;
}

const NO_COUNTS = { icons: 0, slots: 0, preview: [] };

export function toSet(row: SetRow, { who, active, counts }: Shown): IconSet {
  const { managed_by: managedBy, source_sha256: source } = row;
  const { icons, slots, preview } = counts ?? NO_COUNTS;
  return {
    id: row.id,
    name: row.name,
    ...textsOf(row),
    source: 'own',
    style: row.style,
    iconCount: icons,
    slotsFilled: slots,
    slotsTotal: iconSlots.length,
    active,
    fallbackId: row.fallback_id,
    preview,
    ...(managedBy && { managedBy }),
    ...(who.operator && source && { sourceSha256: source }),
    revision: row.revision,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

export async function readSets({ db, who }: Caller): Promise<{ items: IconSet[]; activeId: string }> {
  const [rows, counts, activeId] = await Promise.all([listSetRows(db), countsOf(db), activeSetId(db)]);
  const fixed = builtInSets.flatMap(({ id }) => builtInSetAs(id, id === activeId) ?? []);
  const own = rows.map((row) => toSet(row, { who, active: row.id === activeId, counts: counts.get(row.id) }));
  return { items: [...fixed, ...own], activeId };
}

/** Throws NOT_FOUND. */
export async function readSet(caller: Caller, id: string): Promise<IconSet> {
  const { items } = await readSets(caller);
  const set = items.find((one) => one.id === id);
  if (!set) throw notFound();
  return set;
}

/** The sets that fill the slots of a set, itself first and the default one last. */
export function chainOf(id: string, fallbacks: ReadonlyMap<string, string>): string[] {
  const chain: string[] = [];
  for (let at: string | undefined = id; at !== undefined && !chain.includes(at); at = fallbacks.get(at)) chain.push(at);
  return chain.includes(DEFAULT_SET) ? chain : [...chain, DEFAULT_SET];
}

interface Filled {
  set_id: string;
  slot: IconSlot;
  id: string;
  version: number;
}

async function slotsOf(db: Db, id: string, fallbacks: ReadonlyMap<string, string>): Promise<WholeIconSet['slots']> {
  const chain = chainOf(id, fallbacks);
  const rows = await db('icons')
    .whereIn('set_id', chain)
    .whereNotNull('slot')
    .select('set_id', 'slot', 'id', 'version');
  const fixed = builtInIcons.map(({ id: iconId, set, slot }) => ({ set_id: set.id, slot, id: iconId, version: 1 }));
  const bySlot = Map.groupBy([...(rows as Filled[]), ...fixed], ({ slot }) => slot);
  const resolved = iconSlots.flatMap((slot) => {
    const filling = bySlot.get(slot) ?? [];
    const first = chain.flatMap((set) => filling.filter((one) => one.set_id === set))[0];
    if (!first) return [];
    const from = first.set_id === id ? 'own' : builtInSet(first.set_id) ? 'built-in' : 'fallback';
    return [[slot, { iconId: first.id, version: first.version, from }] as const];
  });
  return Object.fromEntries(resolved);
}

export async function readWholeSet(caller: Caller, wanted: string): Promise<WholeIconSet> {
  const { items, activeId } = await readSets(caller);
  const id = wanted === 'active' ? activeId : wanted;
  const set = items.find((one) => one.id === id);
  if (!set) throw notFound();
  const fallbacks = new Map(items.flatMap((one) => (one.fallbackId ? [[one.id, one.fallbackId] as const] : [])));
  const icons = builtInSet(id)
    ? builtInIcons.filter((icon) => icon.set.id === id).map(toBuiltIn)
    : (await listIconRows(caller.db, id)).map(toIcon);
  return {
    ...set,
    slots: await slotsOf(caller.db, id, fallbacks),
    icons: await withUses(caller, icons),
  };
}

/** Icons of these ids, in their order. */
export async function readIcons(caller: Caller, ids: readonly string[]): Promise<Icon[]> {
  const rows = new Map((await caller.db('icons').whereIn('id', ids).select('*')).map((row) => [row.id, row]));
  return withUses(caller, ids.flatMap((id) => rows.get(id) ?? []).map(toIcon));
}
