import { isDeepStrictEqual } from 'node:util';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { Branding, BrandingChange } from './branding.schemas.ts';
import { columnsOf, lockBranding, type TextRow, writeTexts } from './branding.store.ts';
import { etagOf, toBranding } from './branding.view.ts';
import { contrast } from './contrast.ts';
import { type Brand, brandOf } from './memory.ts';

/** Throws 409 for fields that the MediaServer resource declares. */
export function refuseManaged({ deps }: Call, { declared }: Brand, fields: readonly string[]): void {
  const owned = fields.filter((field) => declared.fields.includes(field));
  if (owned.length === 0) return;
  const { managedBy } = deps.config;
  throw conflict('managed-by-resource', 'A Kubernetes resource declares this', {
    fields: owned,
    ...(managedBy && { managedBy }),
  });
}

/** Throws 409 when `If-Match` names another revision. */
export function refuseStale({ headers }: Call, { revision }: TextRow): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || /^"(\d+)(-[0-9a-f]+)?"$/.exec(wanted)?.[1] === String(revision)) return;
  throw conflict('revision', 'It was changed meanwhile', { revision });
}

/** Runs `work` on the locked row; if it returns changed keys, notifies clients and the other replicas. */
export async function changing(call: Call, work: (inside: Call, row: TextRow) => Promise<string[]>): Promise<void> {
  const memory = brandOf(call.deps);
  const keys = await call.transact(async (inside) => {
    const row = await lockBranding(inside.db);
    refuseStale(inside, row);
    const changed = (await work(inside, row)).map((key) => `branding.${key}`);
    if (changed.length === 0) return changed;
    await audit(inside, 'branding-changed', { keys: changed });
    await inside.emit('settings.changed', { keys: changed });
    return changed;
  });
  await memory.reload();
  if (keys.length > 0) await memory.announce();
}

/** The branding after a change, with its ETag. */
export async function answerBranding(call: Call): Promise<Branding> {
  const branding = toBranding(await brandOf(call.deps).current(), call.deps, { owned: true });
  call.reply.header('ETag', etagOf(branding));
  return branding;
}

const keyOf: Partial<Record<keyof TextRow, string>> = {
  show_name: 'showName',
  sign_in_message: 'signInMessage',
  motion: 'loading',
  min_ms: 'loading',
  alt_main: 'alt',
  alt_loading: 'alt',
};

/** The columns whose value differs from the stored one. */
export function changedColumns(row: TextRow, change: BrandingChange): Partial<TextRow> {
  const entries = Object.entries(columnsOf(change)) as [keyof TextRow, unknown][];
  return Object.fromEntries(entries.filter(([name, value]) => !isDeepStrictEqual(row[name], value)));
}

export async function changeTexts(call: Call, change: BrandingChange): Promise<void> {
  const brand = await brandOf(call.deps).current();
  refuseManaged(call, brand, Object.keys(change));
  await changing(call, async ({ db }, row) => {
    const columns = changedColumns(row, change);
    const names = Object.keys(columns) as (keyof TextRow)[];
    if (names.length > 0) await writeTexts(db, columns);
    return [...new Set(names.map((name) => keyOf[name] ?? name))];
  });
}

const LEAST_CONTRAST = 3;

/** Low contrast is accepted and reported: both colours are the owner's choice. */
export function warningsOf({ accent, background }: Branding): { key: string; message: string }[] {
  if (!accent || !background || contrast(accent, background) >= LEAST_CONTRAST) return [];
  return [{ key: 'accent', message: 'accent and background have a contrast under 3 to 1: hard to read for many' }];
}
