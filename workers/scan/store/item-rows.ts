import { isEditable, newFields, sourceName } from '#areas/libraries/public.ts';
import { newId } from '#platform/ids.ts';
import { shownType } from '#platform/own-types.ts';
import type { Draft, ItemKey } from '../group/draft.ts';
import type { ScannedLibrary, Writing } from './context.ts';
import type { Read } from './files.ts';
import { layersOf } from './layers.ts';
import { totalsOf } from './totals.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'items.artwork': Record<string, unknown>;
    'items.details': Record<string, unknown> & { pages?: number };
    'items.external_ids': Record<string, string>;
  }
}

/** The item of each draft. */
export interface Resolved {
  ids: Map<string, string>;
  added: Set<string>;
  changed: Set<string>;
}

export const nameOf = ({ type, key }: ItemKey): string => `${type} ${key}`;

interface Making {
  draft: Draft;
  /** Id of the existing item; absent for a new one. */
  id: string | undefined;
  resolved: Resolved;
  owners: ReadonlyMap<string, string>;
  writing: Writing;
  /** Newly read files by path. */
  read: ReadonlyMap<string, Read>;
}

export interface ItemRow {
  id: string;
  name: string;
  isNew: boolean;
  [column: string]: unknown;
}

/** The row of a draft for the statements; undefined for an extra whose owner does not exist yet. */
export function itemRow({ draft, id, resolved, owners, writing, read }: Making): ItemRow | undefined {
  const owner = ownerOf(draft, owners);
  if (draft.extra && owner === undefined) return undefined;
  const idOf = (key: ItemKey | undefined): string | undefined => key && resolved.ids.get(nameOf(key));
  return {
    id: id ?? newId(),
    isNew: id === undefined,
    name: nameOf(draft),
    type: draft.type,
    own_type: shownAs(draft, writing.library),
    identity_key: draft.key,
    top: draft.top,
    parent_id: idOf(draft.parent),
    grandparent_id: idOf(draft.grandparent),
    extra_of: owner,
    extra_kind: draft.extra?.kind,
    ...{ local_artwork: draft.artwork, details: technicalOf(draft) },
    ...(id === undefined && { ...newRow(draft, writing.library), ...totalsOf(draft, read) }),
    external_ids: { ...draft.ids, ...draft.nfo?.ids },
    hashes: draft.files.flatMap((file) => read.get(file.path)?.hash.toString('hex') ?? []),
  };
}

/** What directories say of an item, wherever it is. */
export function descriptionOf(draft: Draft): Record<string, unknown> {
  const layers = Object.fromEntries(layersOf(draft).map(({ source, values }) => [sourceName(source), values]));
  return { local_artwork: draft.artwork, details: technicalOf(draft), layers };
}

/** Members of `items.details` that no person edits. */
function technicalOf({ details = {} }: Draft): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).filter(([member]) => !isEditable(member)));
}

/** The fields of a new item. */
function newRow(draft: Draft, { settings }: ScannedLibrary): Record<string, unknown> {
  const layers = new Map(layersOf(draft).map(({ source, values }) => [sourceName(source), values]));
  const { details, ...fields } = newFields(draft.type, { layers, settings });
  return { ...fields, details: { ...technicalOf(draft), ...(details as object) } };
}

/** The name that an owner-made type gives to items of this type. */
export function shownAs({ type, extra }: Draft, { own }: ScannedLibrary): string | undefined {
  const shown = extra ? type : shownType({ own_type: own ? { base: type, levels: own.levels } : null }, type);
  return shown === type ? undefined : shown;
}

function ownerOf({ extra }: Draft, owners: ReadonlyMap<string, string>): string | undefined {
  return extra && owners.get('key' in extra.of ? nameOf(extra.of) : `@${extra.of.directory}`);
}
