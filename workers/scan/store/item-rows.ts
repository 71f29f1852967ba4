import { ageYears } from '#platform/age-ratings.ts';
import { newId } from '#platform/ids.ts';
import { shownType } from '#platform/own-types.ts';
import type { Draft, ItemKey } from '../group/draft.ts';
import { sortTitle } from '../names/sort-title.ts';
import type { ScannedLibrary, Writing } from './context.ts';

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

/** An index entry holds 2,704 bytes. */
const MAX_TITLE = 300;

interface Making {
  draft: Draft;
  /** Id of the existing item; absent for a new one. */
  id: string | undefined;
  resolved: Resolved;
  owners: ReadonlyMap<string, string>;
  writing: Writing;
  /** Sampled hashes of its newly read files, hex. */
  hashes: readonly string[];
}

export interface ItemRow {
  id: string;
  name: string;
  isNew: boolean;
  [column: string]: unknown;
}

/** The row of a draft for the statements; undefined for an extra whose owner does not exist yet. */
export function itemRow({ draft, id, resolved, owners, writing, hashes }: Making): ItemRow | undefined {
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
    ...numbersOf(draft),
    ...fieldsOf(draft, writing.library),
    hashes,
  };
}

/** The name that an owner-made type gives to items of this type. */
export function shownAs({ type, extra }: Draft, { own }: ScannedLibrary): string | undefined {
  const shown = extra ? type : shownType({ own_type: own ? { base: type, levels: own.levels } : null }, type);
  return shown === type ? undefined : shown;
}

/** The fields that directories describe, wherever the item is. */
export function fieldsOf(draft: Draft, { settings }: ScannedLibrary): Record<string, unknown> {
  return {
    ...titlesOf(draft, settings.language),
    ...textsOf(draft, settings.country),
    year: draft.nfo?.year ?? draft.year,
    released_on: draft.nfo?.releasedOn ?? draft.releasedOn,
    taken_at: draft.takenAt,
    external_ids: { ...draft.ids, ...draft.nfo?.ids },
    details: { ...draft.details, ...(draft.nfo?.originalLanguage && { originalLanguage: draft.nfo.originalLanguage }) },
    local_artwork: draft.artwork,
    local: draft.nfo !== undefined && settings.preferLocal,
  };
}

function ownerOf({ extra }: Draft, owners: ReadonlyMap<string, string>): string | undefined {
  return extra && owners.get('key' in extra.of ? nameOf(extra.of) : `@${extra.of.directory}`);
}

function titlesOf({ title: named, nfo }: Draft, language: string): Record<string, unknown> {
  const title = (nfo?.title ?? named).slice(0, MAX_TITLE);
  const sorted = nfo?.sortTitle?.toLowerCase() ?? sortTitle(title, language);
  return { title, sort_title: sorted.slice(0, MAX_TITLE), original_title: nfo?.originalTitle?.slice(0, MAX_TITLE) };
}

function numbersOf(draft: Draft): Record<string, unknown> {
  return {
    index_number: draft.index,
    index_end: draft.indexEnd,
    parent_index: draft.parentIndex,
    airs_before: draft.nfo?.airsBefore,
  };
}

function textsOf({ nfo }: Draft, country: string | null): Record<string, unknown> {
  return {
    overview: nfo?.plot,
    tagline: nfo?.tagline,
    age_rating: nfo?.ageRating,
    age_years: nfo?.ageRating === undefined ? undefined : ageYears(nfo.ageRating, country),
    rating: nfo?.rating !== undefined && nfo.rating <= 10 ? nfo.rating : undefined,
  };
}
