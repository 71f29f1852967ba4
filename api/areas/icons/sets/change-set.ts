// Creating, changing and deleting sets of icons.
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { builtInIcons, builtInSet, DEFAULT_SET, drawingKey } from '../built-in/built-in.ts';
import { nameOf, slotLabels } from '../built-in/slots.ts';
import { announce, refuseForeignManager, refuseManaged, refuseStale } from '../guards.ts';
import type { IconSet, IconSetChange, IconSetDraft } from '../icons.schemas.ts';
import {
  activeSetId,
  changeableSet,
  freeSlots,
  type IconContent,
  insertIcons,
  insertSet,
  listIconRows,
  listSetRows,
  lockIcons,
  MOST_SETS,
  removeSet,
  type SetContent,
  type SetRow,
  touchSet,
  writeActiveSet,
  writeIcon,
  writeSet,
} from '../icons.store.ts';
import { readSet, toSet } from '../icons.view.ts';

const UNSTORED = '00000000-0000-0000-0000-000000000000';
const MOST_FALLBACKS = 3;

const unknown = (member: string): Error => invalid(['body', member], 'unknown_set', 'no set has this id');

/** Throws 400 for a fallback that does not exist, is too deep or leads back to the set. */
function checkFallback(id: string, fallback: string, rows: readonly SetRow[]): void {
  const path = ['body', 'fallbackId'];
  const fallbacks = new Map(rows.map((row) => [row.id, row.fallback_id]));
  if (!builtInSet(fallback) && !fallbacks.has(fallback)) throw unknown('fallbackId');
  fallbacks.set(id, fallback);
  for (const start of fallbacks.keys()) {
    const chain = [start];
    for (let at = fallbacks.get(start); at !== undefined; at = fallbacks.get(at)) {
      if (chain.includes(at)) throw invalid(path, 'circular', 'a set cannot fall back to itself');
      chain.push(at);
    }
    if (chain.length - 1 > MOST_FALLBACKS) throw invalid(path, 'too_deep', `at most ${MOST_FALLBACKS} in a chain`);
  }
}

function contentOf(draft: IconSetDraft): SetContent {
  const { name, description, author, license, style, fallbackId = DEFAULT_SET } = draft;
  return {
    name,
    description: description || null,
    author: author ?? null,
    license: license ?? null,
    style,
    fallback_id: fallbackId,
  };
}

const unstored = (content: SetContent): SetRow => {
  const at = new Date();
  const more = { managed_by: null, source_sha256: null, revision: 1, created_at: at, updated_at: at };
  return { id: UNSTORED, ...content, name_folded: '', ...more };
};

/** With `validateOnly` nothing is stored. Throws 400, 403, 409 `duplicate-name`, `too-many`. */
export async function createSet(call: Call, draft: IconSetDraft): Promise<IconSet> {
  const { db, who } = call;
  refuseForeignManager(who, draft.managedBy);
  await lockIcons(db);
  const rows = await listSetRows(db);
  const content = contentOf(draft);
  checkFallback(UNSTORED, content.fallback_id, rows);
  const copied = draft.copyOf === undefined ? [] : await iconsOf(db, draft.copyOf, rows);
  if (draft.validateOnly) return toSet(unstored(content), { who, active: false });
  if (rows.length >= MOST_SETS) throw conflict('too-many', `A server has at most ${MOST_SETS} sets of its own`);
  const id = await insertSet(db, content, draft.managedBy ?? null);
  await insertIcons(db, id, copied);
  await audit(call, 'icon-set.created', { setId: id, name: content.name });
  return readSet(call, id);
}

/** The icons of a set to copy. Throws 400 for an unknown set. */
async function iconsOf(db: Db, id: string, rows: readonly SetRow[]): Promise<IconContent[]> {
  if (builtInSet(id))
    return builtInIcons.flatMap((icon) => {
      if (icon.set.id !== id) return [];
      const { slot } = icon;
      const words = { name: nameOf(slot), label: slotLabels[slot], slot, keywords: [] };
      const picture = { tintable: true, source_kind: 'built-in' as const, width: 512, height: 512 };
      return [{ ...words, ...picture, hash: null, parts: [], drawing: drawingKey(icon) }];
    });
  if (!rows.some((row) => row.id === id)) throw unknown('copyOf');
  const own = await listIconRows(db, id);
  return own.map(({ id: _id, set_id: _set, version: _version, created_at: _made, updated_at: _at, ...icon }) => icon);
}

const touched = ({ revision: _revision, active: _active, ...own }: IconSetChange): string[] =>
  Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** Throws 400, 404, 409 `built-in`, `revision`, `managed-by-resource`, `duplicate-name`. */
export async function changeSet(call: Call, id: string, change: IconSetChange): Promise<IconSet> {
  const { db, who } = call;
  await lockIcons(db);
  const fields = touched(change);
  if (builtInSet(id) && fields.length === 0) refuseStale(call, { revision: 1 }, change.revision);
  else await changeOwn(call, id, change);
  if (change.active && (await activeSetId(db)) !== id) {
    await writeActiveSet(db, id);
    await audit(call, 'icon-set.activated', { setId: id });
    await call.emit('settings.changed', { keys: ['icons.active'] });
  } else if (fields.length > 0) await announce(call, id);
  return readSet({ db, who }, id);
}

async function changeOwn(call: Call, id: string, change: IconSetChange): Promise<void> {
  const { db, who } = call;
  const row = await changeableSet(db, id);
  refuseStale(call, row, change.revision);
  const fields = touched(change);
  refuseManaged(who, row, fields);
  if (fields.length === 0) return;
  if (change.fallbackId !== undefined) checkFallback(id, change.fallbackId, await listSetRows(db));
  const content = changedContent(row, change);
  await writeSet(db, id, content);
  if (change.slots) await assignSlots(db, id, change.slots);
  await touchSet(db, id);
  await audit(call, 'icon-set.changed', { setId: id, name: content.name });
}

/** Members that are absent keep the stored value. */
function changedContent(row: SetRow, change: IconSetChange): SetContent {
  const { name = row.name, description = row.description, author = row.author } = change;
  const { license = row.license, style = row.style, fallbackId = row.fallback_id } = change;
  return { name, description: description || null, author, license, style, fallback_id: fallbackId };
}

async function assignSlots(db: Db, id: string, given: NonNullable<IconSetChange['slots']>): Promise<void> {
  const icons = new Set((await listIconRows(db, id)).map((icon) => icon.id));
  const wanted = Object.entries(given) as [keyof typeof given, string | null | undefined][];
  for (const [slot, icon] of wanted)
    if (icon && !icons.has(icon)) throw invalid(['body', 'slots', slot], 'unknown_icon', 'no icon of this set');
  const filled = wanted.flatMap(([, icon]) => icon ?? []);
  if (new Set(filled).size < filled.length) throw invalid(['body', 'slots'], 'duplicate', 'an icon fills one slot');
  await freeSlots(db, { setId: id, slots: wanted.map(([slot]) => slot) });
  for (const [slot, icon] of wanted) if (icon) await writeIcon(db, icon, { content: { slot }, isRedrawn: false });
}

/** Throws 404, 409 `icon-set-active`, `built-in`, `managed-by-resource`, `revision`. */
export async function deleteSet(call: Call, id: string): Promise<void> {
  const { db, who } = call;
  await lockIcons(db);
  const row = await changeableSet(db, id);
  refuseStale(call, row);
  refuseManaged(who, row, ['set']);
  if ((await activeSetId(db)) === id) throw conflict('icon-set-active', 'Make another set active first');
  await announce(call, id);
  await removeSet(db, row);
  await audit(call, 'icon-set.deleted', { setId: id, name: row.name });
}
