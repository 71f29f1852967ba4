// Changing and deleting one icon.
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import type { MadeIcon } from '#platform/pictures.ts';
import { announce, refuseManaged } from '../guards.ts';
import type { Icon, IconChange } from '../icons.schemas.ts';
import {
  changeableIcon,
  changeableSet,
  freeSlots,
  type IconContent,
  type IconRow,
  lockIcons,
  removeIcons,
  touchSet,
  writeIcon,
} from '../icons.store.ts';
import { readIcons, usersOf } from '../icons.view.ts';
import { contentOf, opening } from './add-icons.ts';
import { keepIcon } from './kept.ts';

/** The new picture of a change. Throws 400 `icon_rejected`, 503. */
async function pictureIn({ deps }: Call, { file }: IconChange): Promise<MadeIcon | undefined> {
  if (!file) return undefined;
  const made = await opening(() => deps.pictures.icon(file.bytes));
  if (!made.ok) throw invalid(['body', 'file'], 'icon_rejected', made.fault);
  return made.icon;
}

/** Members that are absent keep the stored value. */
function changedContent(change: IconChange, picture: Partial<IconContent>): Partial<IconContent> {
  const { name, label, slot, keywords, tintable } = change;
  const given = Object.entries({ name, label, slot, keywords, tintable }).filter(([, value]) => value !== undefined);
  return { ...picture, ...Object.fromEntries(given) };
}

/** Throws 400 `icon_rejected`, 404, 409 `built-in`, `duplicate-name`, `managed-by-resource`. */
export async function changeIcon(call: Call, id: string, change: IconChange): Promise<Icon> {
  await changeableIcon(call.db, id);
  const icon = await pictureIn(call, change);
  const hash = icon && (await keepIcon(call.deps, icon));
  return call.transact(async (inside) => {
    const row = await locked(inside, id);
    const picture = icon && hash ? contentOf(icon, hash) : {};
    const isRedrawn = hash !== undefined && hash !== row.hash;
    if (change.slot) await freeSlots(inside.db, { setId: row.set_id, slots: [change.slot], but: id });
    await writeIcon(inside.db, id, { content: changedContent(change, picture), isRedrawn });
    await changed(inside, row, 'icon.changed');
    const [shown] = await readIcons(inside, [id]);
    if (!shown) throw notFound();
    return shown;
  });
}

/** Serializes changes. Throws 404, 409 `built-in`, `managed-by-resource`. */
async function locked({ db, who }: Call, id: string): Promise<IconRow> {
  await lockIcons(db);
  const row = await changeableIcon(db, id);
  refuseManaged(who, await changeableSet(db, row.set_id), ['icons']);
  return row;
}

async function changed(call: Call, { id, set_id: setId, name }: IconRow, action: string): Promise<void> {
  await touchSet(call.db, setId);
  await audit(call, action, { iconId: id, name });
  await announce(call, setId);
}

/** Throws 404, 409 `built-in`, `icon-in-use` without `force`, `managed-by-resource`. */
export async function deleteIconRow(call: Call, id: string, { force }: { force: boolean }): Promise<void> {
  const row = await locked(call, id);
  const used = await usersOf(call, [id]);
  if (!force && used.libraries.length + used.types.length > 0)
    throw conflict('icon-in-use', 'Libraries or types have this icon', used);
  await removeIcons(call.db, [id]);
  await changed(call, row, 'icon.deleted');
}
