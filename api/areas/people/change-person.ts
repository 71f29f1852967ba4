import { raiseChanges } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { type Lockable, lockable, type PersonChange } from './people.schemas.ts';
import { librariesOf, lockPeople, type PersonColumns, updatePersonRow } from './people.store.ts';

type Facts = Omit<PersonChange, 'externalIds' | 'lockedFields'>;

/** Changes a person and locks the changed fields; null clears and unlocks. Returns the id. */
export async function changePerson({ db, ...call }: Call, id: string, change: PersonChange): Promise<string> {
  const { externalIds, lockedFields: _locks, ...facts } = change;
  if (facts.name !== undefined) await raiseChanges(db, await librariesOf(db, [id])); // items carry the names
  await lockPeople(db, [id]);
  const row = await db('people').where({ id }).first('external_ids', 'locked_fields');
  if (!row) throw notFound();
  const { rows } = await db.raw<{ rows: Life[] }>(
    'select birthday::text as birthday, deathday::text as deathday from people where id = ?',
    [id],
  );
  refuseDeathFirst(rows[0] ?? {}, facts);
  await updatePersonRow(db, id, {
    ...columnsOf(facts),
    ...(externalIds && { external_ids: mergedIds(row.external_ids, externalIds) }),
    locked_fields: locksAfter(row.locked_fields, change),
  });
  await audit({ db, ...call }, 'person.changed', { personId: id, fields: Object.keys(change) });
  return id;
}

interface Life {
  birthday?: string | null | undefined;
  deathday?: string | null | undefined;
}

/** 400 where a day of the request contradicts the stored other day. */
function refuseDeathFirst(row: Life, facts: Life): void {
  const birthday = facts.birthday === undefined ? row.birthday : facts.birthday;
  const deathday = facts.deathday === undefined ? row.deathday : facts.deathday;
  if (!birthday || !deathday || deathday >= birthday) return;
  const path = facts.deathday === undefined ? 'birthday' : 'deathday';
  throw invalid(['body', path], 'before_birthday', 'the death is before the birth');
}

function columnsOf({ sortName, aliases, ...rest }: Facts): PersonColumns {
  return { ...rest, sort_name: sortName, ...(aliases !== undefined && { aliases: aliases ?? [] }) };
}

function mergedIds(
  before: Record<string, string>,
  change: Record<string, string | null | undefined>,
): Record<string, string> {
  const entries = Object.entries({ ...before, ...change });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** The locks after a change: those that the request names, plus what it sets, minus what it clears. */
function locksAfter(before: readonly string[], change: PersonChange): Lockable[] {
  const kept = new Set<string>(change.lockedFields ?? before);
  for (const field of lockable) {
    const value = change[field];
    if (value === null) kept.delete(field);
    else if (value !== undefined) kept.add(field);
  }
  return lockable.filter((field) => kept.has(field));
}
