import type { Db } from '#platform/db.ts';

const START = 'foyer_replaced_';

/** The schema of a database that a restore put aside, named after its backup. */
export const putAsideAs = (backupId: string): string => START + backupId.replaceAll('-', '');

/** Drops a database that a restore put aside. */
export async function dropPutAside(db: Db, backupId: string): Promise<void> {
  await db.raw('drop schema if exists ?? cascade', [putAsideAs(backupId)]);
}

/** True while one exists, because objects that its rows reference must be kept. */
export async function isAnyPutAside(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { kept: boolean }[] }>(
    'select exists (select from pg_namespace where starts_with(nspname, ?)) as kept',
    [START],
  );
  return rows[0]?.kept ?? false;
}
