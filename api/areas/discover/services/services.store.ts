import type { Db } from '#platform/db.ts';

/** A service that a provider names. */
export interface NamedService {
  id: string;
  name: string;
}

export async function writeServices(db: Db, country: string, services: readonly NamedService[]): Promise<void> {
  for (const { id, name } of services)
    await db('discover_services')
      .insert({ id, country, name: name.slice(0, 200) })
      .onConflict(['id', 'country'])
      .merge({ name: db.raw('excluded.name'), checked_at: db.raw('now()') });
}

export const servicesIn = async (db: Db, country: string): Promise<NamedService[]> =>
  db('discover_services').where({ country }).orderBy('name').select('id', 'name');

/** Names of services by id, of any country. */
export async function namesOfServices(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db('discover_services').whereIn('id', ids).select('id', 'name');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
