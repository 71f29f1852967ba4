import type { Db } from '#platform/db.ts';

const START = 'foyer_replaced_';

/** The schema of a database that a restore put aside, under the id of its backup. */
export const putAsideAs = (backupId: string): string => START + backupId.replaceAll('-', '');

/** Takes away what a restore put aside. */
export async function dropPutAside(db: Db, backupId: string): Promise<void> {
  await db.raw('drop schema if exists ?? cascade', [putAsideAs(backupId)]);
}

/** True while one is kept: what its rows name may still be needed. */
export async function isAnyPutAside(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { kept: boolean }[] }>(
    'select exists (select from pg_namespace where starts_with(nspname, ?)) as kept',
    [START],
  );
  return rows[0]?.kept ?? false;
}
