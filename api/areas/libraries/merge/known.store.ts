import type { Db } from '#platform/db.ts';
import type { FieldName, ItemValues, NamedCredit } from '#platform/item-values.ts';
import type { LibrarySettings } from '../libraries.schemas.ts';
import { agentsByDefault, settingsOf } from '../settings.ts';
import { FIELDS, fieldColumns, fieldNames, hasField } from './fields.ts';
import type { Known, Ranking } from './merge.ts';

/** Language and country of the server: settings `server.language` and `server.country`. */
export interface ServerPlace {
  language: string;
  country: string | null;
}

/** An item as it is shown, with everything that is known of it. */
export interface KnownItem extends Known {
  id: string;
  libraryId: string;
  type: string;
  ranking: Ranking;
  /** BCP 47, for the sort title. */
  language: string;
  /** ISO 3166-1, for ages of ratings. */
  country: string | null;
  locked: ReadonlySet<string>;
  /** The source of each shown value. */
  origins: Readonly<Record<string, string>>;
  /** The shown values. */
  shown: ReadonlyMap<FieldName, unknown>;
  revision: number;
}

interface ItemRow {
  id: string;
  library_id: string;
  type: string;
  fields: Record<string, unknown>;
  details: Record<string, unknown>;
  external_ids: Record<string, string>;
  locked_fields: string[];
  origins: Record<string, string>;
  revision: number;
  library_type: string;
  settings: Partial<LibrarySettings>;
}

const COLUMNS = fieldColumns.map(([column]) => `'${column}', i.${column}`).join();

/**
 * Reads items and locks their rows until the transaction ends. Unknown ids are left out.
 */
export async function lockKnown(db: Db, ids: readonly string[], place: ServerPlace): Promise<KnownItem[]> {
  return readKnown(db, ids, { place, lock: 'for no key update of i' });
}

/** Locks the rows of items as `lockKnown` does, for a change that depends on their types alone. */
export async function lockTypes(db: Db, ids: readonly string[]): Promise<Pick<KnownItem, 'id' | 'type' | 'shown'>[]> {
  const { rows } = await db.raw<{ rows: Pick<KnownItem, 'id' | 'type'>[] }>(
    'select id, type from items where id = any(?::uuid[]) order by id for no key update',
    [[...ids]],
  );
  return rows.map((row) => ({ ...row, shown: new Map() }));
}

/** Reads items without a lock. */
export async function findKnownItems(db: Db, ids: readonly string[], place: ServerPlace): Promise<KnownItem[]> {
  return readKnown(db, ids, { place, lock: '' });
}

interface Reading {
  place: ServerPlace;
  lock: string;
}

async function readKnown(db: Db, ids: readonly string[], { place, lock }: Reading): Promise<KnownItem[]> {
  const { rows } = await db.raw<{ rows: ItemRow[] }>(
    `select i.id, i.library_id, i.type, jsonb_build_object(${COLUMNS}) as fields, i.details, i.external_ids, i.locked_fields, i.origins,
       i.revision, l.type as library_type, l.settings
     from items i join libraries l on l.id = i.library_id where i.id = any(?::uuid[]) order by i.id ${lock}`,
    [[...ids]],
  );
  const layers = await layersOf(db, ids);
  const edits = await editsOf(db, ids);
  const tags = await tagsOf(db, ids);
  const credits = await creditsOf(db, ids);
  return rows.map((row) => {
    const settings = settingsOf({ type: row.library_type, settings: row.settings }, place);
    const lists = { tags: tags.get(row.id) ?? {}, credits: credits.get(row.id) ?? [] };
    return {
      id: row.id,
      libraryId: row.library_id,
      type: row.type,
      ranking: {
        preferLocal: settings.preferLocal,
        agents: row.settings.agents ?? agentsByDefault(row.library_type, () => true),
      },
      language: settings.language,
      country: settings.country,
      locked: new Set(row.locked_fields),
      origins: row.origins,
      layers: layers.get(row.id) ?? new Map(),
      edits: edits.get(row.id) ?? new Map(),
      shown: shownOf(row, lists),
      revision: row.revision,
    };
  });
}

interface Lists {
  tags: Record<string, string[]>;
  credits: NamedCredit[];
}

function shownOf(row: ItemRow, lists: Lists): Map<FieldName, unknown> {
  const own = fieldNames.filter((name) => hasField(row.type, name));
  return new Map(
    own.flatMap((name) => {
      const value = shownValue(name, row, lists);
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}

function shownValue(name: FieldName, row: ItemRow, { tags, credits }: Lists): unknown {
  const { place } = FIELDS[name];
  switch (place.in) {
    case 'column':
      return moment(name, row.fields[place.column]);
    case 'details':
      return namesIn(row.details[place.member], place.named);
    case 'tags':
      return tags[place.kind];
    case 'credits':
      return credits.length > 0 ? credits : undefined;
    case 'ids':
      return Object.keys(row.external_ids).length > 0 ? row.external_ids : undefined;
  }
}

function moment(name: FieldName, value: unknown): unknown {
  return name === 'takenAt' && typeof value === 'string' ? new Date(value).toISOString() : value;
}

function namesIn(value: unknown, named: true | undefined): unknown {
  if (!named || !Array.isArray(value)) return value;
  return value.map((one: { name: string }) => one.name);
}

async function layersOf(db: Db, ids: readonly string[]): Promise<Map<string, Map<string, ItemValues>>> {
  const rows = await db('item_layers')
    .whereRaw('item_id = any(?::uuid[])', [[...ids]])
    .select('item_id', 'source', 'fields');
  return grouped(rows, (row) => [row.source, row.fields as ItemValues]);
}

async function editsOf(db: Db, ids: readonly string[]): Promise<Map<string, Map<FieldName, unknown>>> {
  const rows = await db('item_edits')
    .whereRaw('item_id = any(?::uuid[])', [[...ids]])
    .select('item_id', 'field', 'value');
  return grouped(rows, (row) => [row.field as FieldName, row.value]);
}

function grouped<R extends { item_id: string }, K, V>(
  rows: readonly R[],
  entry: (row: R) => [K, V],
): Map<string, Map<K, V>> {
  return new Map([...Map.groupBy(rows, (row) => row.item_id)].map(([id, own]) => [id, new Map(own.map(entry))]));
}

async function tagsOf(db: Db, ids: readonly string[]): Promise<Map<string, Record<string, string[]>>> {
  const rows = await db('item_tags')
    .whereRaw('item_id = any(?::uuid[])', [[...ids]])
    .orderBy('name_folded')
    .select('item_id', 'kind', 'name');
  const byItem = Map.groupBy(rows, (row) => row.item_id);
  return new Map(
    [...byItem].map(([id, own]) => {
      const kinds = Map.groupBy(own, (row) => row.kind);
      return [id, Object.fromEntries([...kinds].map(([kind, some]) => [kind, some.map((row) => row.name)]))];
    }),
  );
}

async function creditsOf(db: Db, ids: readonly string[]): Promise<Map<string, NamedCredit[]>> {
  const rows: CreditRow[] = await db('credits as c')
    .join('people as p', 'p.id', 'c.person_id')
    .whereRaw('c.item_id = any(?::uuid[])', [[...ids]])
    .orderBy('c.position')
    .orderBy('c.id')
    .select('c.item_id', 'c.person_id', 'p.name', 'c.role', 'c.character', 'c.job', 'c.guest');
  const byItem = Map.groupBy(rows, (row) => row.item_id);
  return new Map([...byItem].map(([id, own]) => [id, own.map(toCredit)]));
}

interface CreditRow {
  item_id: string;
  person_id: string;
  name: string;
  role: string;
  character: string | null;
  job: string | null;
  guest: boolean;
}

function toCredit({ person_id: personId, name, role, character, job, guest }: CreditRow): NamedCredit {
  return {
    name,
    personId,
    role,
    ...(character !== null && { character }),
    ...(job !== null && { job }),
    ...(guest && { guest }),
  };
}
