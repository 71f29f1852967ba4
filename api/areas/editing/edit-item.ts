import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { setLabelsOfItem } from '#areas/labels/public.ts';
import {
  editFields,
  findKnownItems,
  type KnownItem,
  lockKnown,
  placeEpisode,
  raiseChangesOfItems,
  type ServerPlace,
  setAddedAt,
} from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import type { FieldName, NamedCredit } from '#platform/item-values.ts';
import { announce } from './announce.ts';
import { changeCustom, type FieldChange } from './custom.ts';
import type { ItemEdit } from './editing.schemas.ts';
import { setChapters, setEditions } from './files.ts';
import { shownValue, sortOut } from './item-fields.ts';

export interface EditOptions {
  edit: ItemEdit;
  lock: boolean;
  confirm: boolean;
}

/** The server's language and country, which a library without its own uses. */
export function placeOf({ deps: { settings } }: Pick<Call, 'deps'>): ServerPlace {
  return { language: settings.get('server.language'), country: settings.get('server.country') };
}

/** Applies an edit to one item, with its audit entry and its event. */
export async function editItem(call: Call, id: string, options: EditOptions): Promise<void> {
  const { db, who } = call;
  const { edit } = options;
  const item = await getVisibleItem(db, who, id);
  await raiseChangesOfItems(db, [id]);
  const [before] = (await lockKnown(db, [id], placeOf(call))) as [KnownItem];
  const { fields, wrong } = sortOut(item.type, edit);
  refuseWrong(item.type, wrong);
  refuseStale(call, before, fields);
  refuseOtherTitle(before, fields);
  await refuseUnknownPeople(call, fields);
  const ages = await ageOf(call, id);
  const changed = new Set(await applyFields(call, item, { fields, lock: options.lock }));
  for (const name of await applyRest(call, item, options)) changed.add(name);
  const custom = edit.custom ? await changeCustom(call, id, edit.custom) : [];
  await record(call, before, { changed: [...changed], custom });
  if (custom.length > 0) changed.add('custom');
  await announce(db, [{ id, changed: [...changed], before: ages }]);
}

interface Applied {
  fields: ReadonlyMap<FieldName, unknown>;
  lock: boolean;
}

async function applyFields(call: Call, item: VisibleItem, { fields, lock }: Applied): Promise<string[]> {
  const { db, who } = call;
  const editor = { accountId: who.accountId || null, lock, place: placeOf(call) };
  const [settled] = await editFields(db, [{ itemId: item.id, fields }], editor);
  if (fields.has('index') || fields.has('parentIndex')) await placeEpisode(db, item.id);
  return settled?.changed ?? [];
}

async function applyRest(call: Call, item: VisibleItem, { edit, confirm }: EditOptions): Promise<string[]> {
  const changed: string[] = [];
  if (edit.addedAt !== undefined) {
    await setAddedAt(call.db, item.id, edit.addedAt);
    changed.push('addedAt');
  }
  if (edit.edition && (await setEditions(call.db, item.id, edit.edition))) changed.push('edition');
  if (edit.chapters && (await setChapters(call.db, item.id, edit.chapters))) changed.push('chapters');
  if (edit.labels !== undefined) {
    const change = { itemId: item.id, labels: edit.labels ?? [], confirm };
    if (await setLabelsOfItem(call, change)) changed.push('labels');
  }
  return changed;
}

function refuseWrong(type: string, wrong: readonly string[]): void {
  if (wrong.length === 0) return;
  const message = `items of type ${type} do not have it`;
  throw invalidAll(wrong.map((name): Issue => ({ path: ['body', name], code: 'wrong_type', message })));
}

/** 409 `revision` when `If-Match` names another revision; details.fields are those of the edit that differ now. */
function refuseStale({ headers }: Call, item: KnownItem, fields: ReadonlyMap<FieldName, unknown>): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || revisionIn(wanted) === item.revision) return;
  const differing = [...fields].filter(
    ([name, value]) => JSON.stringify(shownValue(item, name)) !== JSON.stringify(value),
  );
  const details = { revision: item.revision, fields: differing.map(([name]) => name) };
  throw conflict('revision', 'The item has changed since this revision', details);
}

/** The ETag of an item begins with its revision. */
function revisionIn(tag: string): number {
  return Number(/^(?:W\/)?"(\d{1,15})/.exec(tag)?.[1] ?? Number.NaN);
}

/** A provider's id that differs names another title, which is chosen with a match. */
function refuseOtherTitle(item: KnownItem, fields: ReadonlyMap<FieldName, unknown>): void {
  const ids = fields.get('externalIds') as Record<string, string | null> | null | undefined;
  const held = (item.shown.get('externalIds') ?? {}) as Record<string, string>;
  const other = Object.entries(ids ?? {}).filter(
    ([name, id]) => id !== null && held[name] !== undefined && held[name] !== id,
  );
  if (other.length === 0) return;
  throw conflict('use-match', 'These ids are of another title; match the item instead', {
    fields: other.map(([name]) => name),
  });
}

async function refuseUnknownPeople({ db }: Call, fields: ReadonlyMap<FieldName, unknown>): Promise<void> {
  const people = (fields.get('people') ?? []) as NamedCredit[];
  const ids = people.flatMap(({ personId }) => personId ?? []);
  if (ids.length === 0) return;
  const known = new Set((await db('people').whereIn('id', ids).pluck('id')) as string[]);
  const issues = people.flatMap(({ personId }, at): Issue[] =>
    personId === undefined || known.has(personId)
      ? []
      : [{ path: ['body', 'people', at, 'personId'], code: 'unknown_person', message: 'the person does not exist' }],
  );
  if (issues.length > 0) throw invalidAll(issues);
}

async function ageOf({ db }: Call, id: string): Promise<number | null> {
  const row = await db('items')
    .where({ id })
    .first<{ age: number | null }>(db.raw(`${ageSql('items')} as age`));
  return row?.age ?? null;
}

interface Recorded {
  changed: readonly string[];
  custom: readonly FieldChange[];
}

async function record(call: Call, before: KnownItem, { changed, custom }: Recorded): Promise<void> {
  if (changed.length + custom.length === 0) return;
  const [after] = await findKnownItems(call.db, [before.id], placeOf(call));
  const changes = changed.map((name) => ({
    field: name,
    old: before.shown.get(name as FieldName) ?? null,
    new: after?.shown.get(name as FieldName) ?? null,
  }));
  await audit(call, 'item.edited', { itemId: before.id, changes: [...changes, ...custom] });
}
